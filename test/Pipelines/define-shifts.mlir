// A shift by too many bits gives one value in all code.
// RUN: ansor-opt %s --ansor-define-shifts | FileCheck %s

// CHECK-LABEL: func.func @unknown
// CHECK: %[[MASK:.*]] = arith.constant 31 : i32
// CHECK: %[[BY:.*]] = arith.andi %[[B:.*]], %[[MASK]]
// CHECK: arith.shli %{{.*}}, %[[BY]]
// CHECK: arith.shrsi %{{.*}}, %{{.*}}
// CHECK: arith.shrui %{{.*}}, %{{.*}}
func.func @unknown(%a: i32, %b: i32) -> (i32, i32, i32) {
  %l = arith.shli %a, %b : i32
  %s = arith.shrsi %a, %b : i32
  %u = arith.shrui %a, %b : i32
  return %l, %s, %u : i32, i32, i32
}

// CHECK-LABEL: func.func @lanes
// CHECK: arith.constant dense<15> : vector<4xi16>
// CHECK: arith.andi
func.func @lanes(%a: vector<4xi16>, %b: vector<4xi16>) -> vector<4xi16> {
  %l = arith.shli %a, %b : vector<4xi16>
  return %l : vector<4xi16>
}

// Bits that are no power of two; indices.
// CHECK-LABEL: func.func @odd
// CHECK: arith.constant 12 : i12
// CHECK: arith.remui
// CHECK: arith.constant 63 : index
// CHECK: arith.andi
func.func @odd(%a: i12, %b: i12, %i: index) -> (i12, index) {
  %l = arith.shli %a, %b : i12
  %j = arith.shli %i, %i : index
  return %l, %j : i12, index
}

// CHECK-LABEL: func.func @known
// CHECK-NOT: arith.andi
// CHECK: arith.shli %{{.*}}, %{{.*}} : i32
// CHECK-NOT: arith.andi
// CHECK: arith.shli %{{.*}}, %{{.*}} : vector<2xi32>
// CHECK: arith.andi
// CHECK: arith.andi
func.func @known(%a: i32, %v: vector<2xi32>) -> (i32, vector<2xi32>, i32, vector<2xi32>) {
  %three = arith.constant 3 : i32
  %lanes = arith.constant dense<[3, 31]> : vector<2xi32>
  %l = arith.shli %a, %three : i32
  %w = arith.shli %v, %lanes : vector<2xi32>
  %many = arith.constant 32 : i32
  %lanes2 = arith.constant dense<[3, 32]> : vector<2xi32>
  %m = arith.shli %a, %many : i32
  %x = arith.shli %v, %lanes2 : vector<2xi32>
  return %l, %w, %m, %x : i32, vector<2xi32>, i32, vector<2xi32>
}
