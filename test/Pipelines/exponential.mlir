// The error of the exponential function over all floats, in steps, against that
// of the mathematical library in double precision. Results are within two units
// in the last place, subnormal ones included; NaN stays NaN, and what overflows
// is infinite.

// RUN: ansor-opt %s --ansor-lower-to-cpu=parallel=false \
// RUN:   | mlir-runner -e run -entry-point-result=void \
// RUN:       -shared-libs=%llvm_lib/libmlir_c_runner_utils.so | FileCheck %s

// The largest error so far, in units in the last place, and the number of values
// that are wrong altogether.
func.func private @judge(%x: f32, %got: f32, %worst: f64, %wrong: i64) -> (f64, i64) {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1 : i64
  %least = arith.constant 1.4012984643248171e-45 : f64
  %ulps = arith.constant 1.1920928955078125e-07 : f64
  %exponent = arith.constant 0x7FF0000000000000 : i64
  %overflow = arith.constant 3.4028235677973366e+38 : f64
  %infinity = arith.constant 0x7F800000 : f32
  %wide = arith.extf %x : f32 to f64
  %ref = math.exp %wide : f64
  %isnan = arith.cmpf uno, %x, %x : f32
  %gotnan = arith.cmpf uno, %got, %got : f32
  %isinf = arith.cmpf oge, %ref, %overflow : f64
  %gotinf = arith.cmpf oeq, %got, %infinity : f32
  %differ = arith.xori %isnan, %gotnan : i1
  %differinf = arith.xori %isinf, %gotinf : i1
  %bad = arith.ori %differ, %differinf : i1
  %more = arith.addi %wrong, %one : i64
  %count = arith.select %bad, %more, %wrong : i64
  %bits = arith.bitcast %ref : f64 to i64
  %power = arith.andi %bits, %exponent : i64
  %size = arith.bitcast %power : i64 to f64
  %unit = arith.mulf %size, %ulps : f64
  %ulp = arith.maximumf %unit, %least : f64
  %gotwide = arith.extf %got : f32 to f64
  %difference = arith.subf %gotwide, %ref : f64
  %distance = math.absf %difference : f64
  %error = arith.divf %distance, %ulp : f64
  %special = arith.ori %isnan, %isinf : i1
  %finite = arith.select %special, %zero, %error : f64
  %larger = arith.maximumf %worst, %finite : f64
  return %larger, %count : f64, i64
}

func.func private @sweep16() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %stride = arith.constant 159568 : index
  %end = arith.constant 4294967296 : index
  %zero = arith.constant 0.0 : f64
  %none = arith.constant 0 : i64
  %apart = arith.constant 9973 : i32
  %lane = vector.step : vector<16xindex>
  %lanes = arith.index_cast %lane : vector<16xindex> to vector<16xi32>
  %aparts = vector.broadcast %apart : i32 to vector<16xi32>
  %offsets = arith.muli %lanes, %aparts : vector<16xi32>
  %r:2 = scf.for %i = %c0 to %end step %stride iter_args(%worst = %zero, %wrong = %none) -> (f64, i64) {
    %low = arith.index_cast %i : index to i32
    %base = vector.broadcast %low : i32 to vector<16xi32>
    %bits = arith.addi %base, %offsets : vector<16xi32>
    %x = arith.bitcast %bits : vector<16xi32> to vector<16xf32>
    %e = math.exp %x : vector<16xf32>
    %s:2 = scf.for %k = %c0 to %c16 step %c1 iter_args(%w = %worst, %b = %wrong) -> (f64, i64) {
      %xk = vector.extract %x[%k] : f32 from vector<16xf32>
      %ek = vector.extract %e[%k] : f32 from vector<16xf32>
      %t:2 = func.call @judge(%xk, %ek, %w, %b) : (f32, f32, f64, i64) -> (f64, i64)
      scf.yield %t#0, %t#1 : f64, i64
    }
    scf.yield %s#0, %s#1 : f64, i64
  }
  %two = arith.constant 2.0 : f64
  %half = arith.constant 0.5 : f64
  %close = arith.cmpf olt, %r#0, %two : f64
  %tested = arith.cmpf ogt, %r#0, %half : f64
  vector.print %close : i1
  vector.print %tested : i1
  vector.print %r#1 : i64
  return
}

func.func private @sweep4() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %stride = arith.constant 159568 : index
  %end = arith.constant 4294967296 : index
  %zero = arith.constant 0.0 : f64
  %none = arith.constant 0 : i64
  %apart = arith.constant 39892 : i32
  %lane = vector.step : vector<4xindex>
  %lanes = arith.index_cast %lane : vector<4xindex> to vector<4xi32>
  %aparts = vector.broadcast %apart : i32 to vector<4xi32>
  %offsets = arith.muli %lanes, %aparts : vector<4xi32>
  %r:2 = scf.for %i = %c0 to %end step %stride iter_args(%worst = %zero, %wrong = %none) -> (f64, i64) {
    %low = arith.index_cast %i : index to i32
    %base = vector.broadcast %low : i32 to vector<4xi32>
    %bits = arith.addi %base, %offsets : vector<4xi32>
    %x = arith.bitcast %bits : vector<4xi32> to vector<4xf32>
    %e = math.exp %x : vector<4xf32>
    %s:2 = scf.for %k = %c0 to %c4 step %c1 iter_args(%w = %worst, %b = %wrong) -> (f64, i64) {
      %xk = vector.extract %x[%k] : f32 from vector<4xf32>
      %ek = vector.extract %e[%k] : f32 from vector<4xf32>
      %t:2 = func.call @judge(%xk, %ek, %w, %b) : (f32, f32, f64, i64) -> (f64, i64)
      scf.yield %t#0, %t#1 : f64, i64
    }
    scf.yield %s#0, %s#1 : f64, i64
  }
  %two = arith.constant 2.0 : f64
  %half = arith.constant 0.5 : f64
  %close = arith.cmpf olt, %r#0, %two : f64
  %tested = arith.cmpf ogt, %r#0, %half : f64
  vector.print %close : i1
  vector.print %tested : i1
  vector.print %r#1 : i64
  return
}

// The second sweep has no instruction that scales by powers of two.
func.func @run() {
  // CHECK: 1
  // CHECK-NEXT: 1
  // CHECK-NEXT: 0
  call @sweep16() : () -> ()
  // CHECK-NEXT: 1
  // CHECK-NEXT: 1
  // CHECK-NEXT: 0
  call @sweep4() : () -> ()
  return
}
