// Anchors whose windows are not copied: there dot instructions serve as it is,
// don't at all, or the copy isn't known to be right, or too large.
// RUN: ansor-opt %s --ansor-generate-sketches="target=sapphirerapids" | FileCheck %s
// CHECK-NOT: columns

// Channels in whole groups.
func.func private @task_0(%x: tensor<30x30x8xi8>, %w: tensor<3x3x8x32xi8>, %out: tensor<28x28x32xi32>) -> tensor<28x28x32xi32> attributes {ansor.task = "a1-00"} {
  %z = arith.constant 0 : i32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%z : i32) outs(%out : tensor<28x28x32xi32>) -> tensor<28x28x32xi32>
  %c = linalg.generic {indexing_maps = [affine_map<(h, v, f, i, j, c) -> (h + i, v + j, c)>, affine_map<(h, v, f, i, j, c) -> (i, j, c, f)>, affine_map<(h, v, f, i, j, c) -> (h, v, f)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<30x30x8xi8>, tensor<3x3x8x32xi8>) outs(%f : tensor<28x28x32xi32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extsi %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<28x28x32xi32>
  return %c : tensor<28x28x32xi32>
}

// A row of one channel is contiguous, and in whole groups.
func.func private @task_1(%x: tensor<60xi8>, %w: tensor<4x32xi8>, %out: tensor<57x32xi32>) -> tensor<57x32xi32> attributes {ansor.task = "a1-01"} {
  %z = arith.constant 0 : i32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%z : i32) outs(%out : tensor<57x32xi32>) -> tensor<57x32xi32>
  %c = linalg.generic {indexing_maps = [affine_map<(v, f, j) -> (v + j)>, affine_map<(v, f, j) -> (j, f)>, affine_map<(v, f, j) -> (v, f)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<60xi8>, tensor<4x32xi8>) outs(%f : tensor<57x32xi32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extsi %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<57x32xi32>
  return %c : tensor<57x32xi32>
}

// Numbers that aren't narrow.
func.func private @task_2(%x: tensor<30x30x3xf32>, %w: tensor<3x3x3x32xf32>, %out: tensor<28x28x32xf32>) -> tensor<28x28x32xf32> attributes {ansor.task = "a1-02"} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%z : f32) outs(%out : tensor<28x28x32xf32>) -> tensor<28x28x32xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(h, v, f, i, j, c) -> (h + i, v + j, c)>, affine_map<(h, v, f, i, j, c) -> (i, j, c, f)>, affine_map<(h, v, f, i, j, c) -> (h, v, f)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<30x30x3xf32>, tensor<3x3x3x32xf32>) outs(%f : tensor<28x28x32xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: f32, %k: f32, %s: f32):
    %m = arith.mulf %a, %k : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<28x28x32xf32>
  return %c : tensor<28x28x32xf32>
}

// Groups of two.
func.func private @task_3(%x: tensor<30x30x3xbf16>, %w: tensor<3x3x3x32xbf16>, %out: tensor<28x28x32xf32>) -> tensor<28x28x32xf32> attributes {ansor.task = "a1-03"} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%z : f32) outs(%out : tensor<28x28x32xf32>) -> tensor<28x28x32xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(h, v, f, i, j, c) -> (h + i, v + j, c)>, affine_map<(h, v, f, i, j, c) -> (i, j, c, f)>, affine_map<(h, v, f, i, j, c) -> (h, v, f)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<30x30x3xbf16>, tensor<3x3x3x32xbf16>) outs(%f : tensor<28x28x32xf32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: bf16, %k: bf16, %s: f32):
    %ae = arith.extf %a : bf16 to f32
    %ke = arith.extf %k : bf16 to f32
    %m = arith.mulf %ae, %ke : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<28x28x32xf32>
  return %c : tensor<28x28x32xf32>
}

// A filter that doesn't lie along vectors.
func.func private @task_4(%x: tensor<30x30x3xi8>, %w: tensor<32x3x3x3xi8>, %out: tensor<28x28x32xi32>) -> tensor<28x28x32xi32> attributes {ansor.task = "a1-04"} {
  %z = arith.constant 0 : i32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%z : i32) outs(%out : tensor<28x28x32xi32>) -> tensor<28x28x32xi32>
  %c = linalg.generic {indexing_maps = [affine_map<(h, v, f, i, j, c) -> (h + i, v + j, c)>, affine_map<(h, v, f, i, j, c) -> (f, i, j, c)>, affine_map<(h, v, f, i, j, c) -> (h, v, f)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<30x30x3xi8>, tensor<32x3x3x3xi8>) outs(%f : tensor<28x28x32xi32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extsi %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<28x28x32xi32>
  return %c : tensor<28x28x32xi32>
}

// No plain products: a zero point.
func.func private @task_5(%x: tensor<30x30x3xi8>, %w: tensor<3x3x3x32xi8>, %out: tensor<28x28x32xi32>) -> tensor<28x28x32xi32> attributes {ansor.task = "a1-05"} {
  %z = arith.constant 0 : i32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%z : i32) outs(%out : tensor<28x28x32xi32>) -> tensor<28x28x32xi32>
  %c = linalg.generic {indexing_maps = [affine_map<(h, v, f, i, j, c) -> (h + i, v + j, c)>, affine_map<(h, v, f, i, j, c) -> (i, j, c, f)>, affine_map<(h, v, f, i, j, c) -> (h, v, f)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<30x30x3xi8>, tensor<3x3x3x32xi8>) outs(%f : tensor<28x28x32xi32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %n = arith.constant 3 : i32
    %ae = arith.extsi %a : i8 to i32
    %d = arith.subi %ae, %n : i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %d, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<28x28x32xi32>
  return %c : tensor<28x28x32xi32>
}

// No windows.
func.func private @task_6(%x: tensor<30x3xi8>, %w: tensor<3x32xi8>, %out: tensor<30x32xi32>) -> tensor<30x32xi32> attributes {ansor.task = "a1-06"} {
  %z = arith.constant 0 : i32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%z : i32) outs(%out : tensor<30x32xi32>) -> tensor<30x32xi32>
  %c = linalg.generic {indexing_maps = [affine_map<(h, f, c) -> (h, c)>, affine_map<(h, f, c) -> (c, f)>, affine_map<(h, f, c) -> (h, f)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<30x3xi8>, tensor<3x32xi8>) outs(%f : tensor<30x32xi32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extsi %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<30x32xi32>
  return %c : tensor<30x32xi32>
}

// Rows that are too long.
func.func private @task_7(%x: tensor<30x30x9001xi8>, %w: tensor<3x3x9001x32xi8>, %out: tensor<28x28x32xi32>) -> tensor<28x28x32xi32> attributes {ansor.task = "a1-07"} {
  %z = arith.constant 0 : i32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%z : i32) outs(%out : tensor<28x28x32xi32>) -> tensor<28x28x32xi32>
  %c = linalg.generic {indexing_maps = [affine_map<(h, v, f, i, j, c) -> (h + i, v + j, c)>, affine_map<(h, v, f, i, j, c) -> (i, j, c, f)>, affine_map<(h, v, f, i, j, c) -> (h, v, f)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<30x30x9001xi8>, tensor<3x3x9001x32xi8>) outs(%f : tensor<28x28x32xi32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extsi %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<28x28x32xi32>
  return %c : tensor<28x28x32xi32>
}

// A stage computes the image.
func.func private @task_8(%x: tensor<30x30x3xi8>, %w: tensor<3x3x3x32xi8>, %out: tensor<28x28x32xi32>) -> tensor<28x28x32xi32> attributes {ansor.task = "a1-08"} {
  %z = arith.constant 0 : i32
  %y = tensor.empty() : tensor<30x30x3xi8>
  %p = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<30x30x3xi8>) outs(%y : tensor<30x30x3xi8>) attrs = {ansor.stage = 0 : i64} {
  ^bb0(%a: i8, %s: i8):
    %t = arith.maxsi %a, %a : i8
    linalg.yield %t : i8
  } -> tensor<30x30x3xi8>
  %f = linalg.fill {ansor.stage = 1 : i64} ins(%z : i32) outs(%out : tensor<28x28x32xi32>) -> tensor<28x28x32xi32>
  %c = linalg.generic {indexing_maps = [affine_map<(h, v, f, i, j, c) -> (h + i, v + j, c)>, affine_map<(h, v, f, i, j, c) -> (i, j, c, f)>, affine_map<(h, v, f, i, j, c) -> (h, v, f)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%p, %w : tensor<30x30x3xi8>, tensor<3x3x3x32xi8>) outs(%f : tensor<28x28x32xi32>) attrs = {ansor.stage = 2 : i64} {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extsi %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<28x28x32xi32>
  return %c : tensor<28x28x32xi32>
}

// A reduction that the image doesn't depend on.
func.func private @task_9(%x: tensor<30x30xi8>, %w: tensor<3x3x3x32xi8>, %out: tensor<28x28x32xi32>) -> tensor<28x28x32xi32> attributes {ansor.task = "a1-09"} {
  %z = arith.constant 0 : i32
  %f = linalg.fill {ansor.stage = 0 : i64} ins(%z : i32) outs(%out : tensor<28x28x32xi32>) -> tensor<28x28x32xi32>
  %c = linalg.generic {indexing_maps = [affine_map<(h, v, f, i, j, c) -> (h + i, v + j)>, affine_map<(h, v, f, i, j, c) -> (i, j, c, f)>, affine_map<(h, v, f, i, j, c) -> (h, v, f)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<30x30xi8>, tensor<3x3x3x32xi8>) outs(%f : tensor<28x28x32xi32>) attrs = {ansor.stage = 1 : i64} {
  ^bb0(%a: i8, %k: i8, %s: i32):
    %ae = arith.extsi %a : i8 to i32
    %ke = arith.extsi %k : i8 to i32
    %m = arith.muli %ae, %ke : i32
    %t = arith.addi %s, %m : i32
    linalg.yield %t : i32
  } -> tensor<28x28x32xi32>
  return %c : tensor<28x28x32xi32>
}
