// Why a task, or an op of it, gets no sketch that tiles it.
// RUN: ansor-opt %s --split-input-file --ansor-generate-sketches --verify-diagnostics

// expected-remark @below {{can't be tiled: it is not a structured op}}
func.func private @scan(%x: tensor<64xf32>, %o: tensor<64xf32>) -> tensor<64xf32> attributes {ansor.task = "a1-01"} {
  %0 = linalg.softmax {ansor.stage = 0 : i64} dimension(0) ins(%x : tensor<64xf32>) outs(%o : tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// expected-remark @below {{can't be tiled: its padding is not constant}}
func.func private @padded(%x: tensor<64xf32>, %o: tensor<64xf32>) -> tensor<66xf32> attributes {ansor.task = "a1-02"} {
  %0 = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    %v = tensor.extract %o[%i] : tensor<64xf32>
    tensor.yield %v : f32
  } {ansor.stage = 0 : i64} : tensor<64xf32> to tensor<66xf32>
  return %0 : tensor<66xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-remark @below {{can't be tiled: it doesn't write every element of its result}}
func.func private @diagonal(%x: tensor<64xf32>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {ansor.task = "a1-03"} {
  %0 = linalg.generic {indexing_maps = [#id, affine_map<(d0) -> (d0, d0)>], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%o : tensor<64x64xf32>) attrs = {ansor.stage = 0 : i64} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-remark @below {{can't be tiled: a subscript doesn't grow with its loops}}
func.func private @backwards(%x: tensor<64xf32>, %o: tensor<64xf32>) -> tensor<64xf32> attributes {ansor.task = "a1-04"} {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (63 - d0)>, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%o : tensor<64xf32>) attrs = {ansor.stage = 0 : i64} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// expected-error @below {{a task without a body has no sketches}}
func.func private @outside(%x: tensor<64xf32>) -> tensor<64xf32> attributes {ansor.task = "a1-05"}
