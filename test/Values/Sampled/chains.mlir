// Chains of reductions of awkward sizes: rows that are long, that nothing
// divides, that lie across memory; products around a softmax.
// REQUIRES: ansor-tune, ansor-run
// RUN: %sample_and_check %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%a: tensor<17x31xf32>, %b: tensor<9x1100xf32>, %c: tensor<37x20xf32>,
                %q: tensor<3x19x8xf32>, %k: tensor<3x23x8xf32>, %v: tensor<3x23x5xf32>)
    -> (tensor<17x31xf32>, tensor<9x1100xf32>, tensor<37x20xf32>, tensor<3x19x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 1100.0 : f32
  %eps = arith.constant 1.0e-5 : f32

  %ea = tensor.empty() : tensor<17x31xf32>
  %ra = linalg.softmax dimension(1) ins(%a : tensor<17x31xf32>) outs(%ea : tensor<17x31xf32>) -> tensor<17x31xf32>

  // A normalisation of long rows.
  %eb = tensor.empty() : tensor<9x1100xf32>
  %eb1 = tensor.empty() : tensor<9xf32>
  %fb = linalg.fill ins(%zero : f32) outs(%eb1 : tensor<9xf32>) -> tensor<9xf32>
  %sum = linalg.reduce { arith.addf } ins(%b : tensor<9x1100xf32>) outs(%fb : tensor<9xf32>) dimensions = [1]
  %var = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%b, %sum : tensor<9x1100xf32>, tensor<9xf32>) outs(%fb : tensor<9xf32>) {
  ^bb0(%x: f32, %s: f32, %o: f32):
    %m = arith.divf %s, %n : f32
    %d = arith.subf %x, %m : f32
    %t = arith.mulf %d, %d : f32
    %u = arith.addf %o, %t : f32
    linalg.yield %u : f32
  } -> tensor<9xf32>
  %rb = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%b, %sum, %var : tensor<9x1100xf32>, tensor<9xf32>, tensor<9xf32>) outs(%eb : tensor<9x1100xf32>) {
  ^bb0(%x: f32, %s: f32, %w: f32, %o: f32):
    %m = arith.divf %s, %n : f32
    %d = arith.subf %x, %m : f32
    %i = arith.addf %w, %eps : f32
    %r = math.rsqrt %i : f32
    %t = arith.mulf %d, %r : f32
    linalg.yield %t : f32
  } -> tensor<9x1100xf32>

  // Along the columns: the rows of the chain are the last loop.
  %ec = tensor.empty() : tensor<37x20xf32>
  %rc = linalg.softmax dimension(0) ins(%c : tensor<37x20xf32>) outs(%ec : tensor<37x20xf32>) -> tensor<37x20xf32>

  %es = tensor.empty() : tensor<3x19x23xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<3x19x23xf32>) -> tensor<3x19x23xf32>
  %ek = tensor.empty() : tensor<3x8x23xf32>
  %kt = linalg.transpose ins(%k : tensor<3x23x8xf32>) outs(%ek : tensor<3x8x23xf32>) permutation = [0, 2, 1]
  %s = linalg.batch_matmul ins(%q, %kt : tensor<3x19x8xf32>, tensor<3x8x23xf32>) outs(%fs : tensor<3x19x23xf32>) -> tensor<3x19x23xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<3x19x23xf32>) outs(%es : tensor<3x19x23xf32>) -> tensor<3x19x23xf32>
  %eo = tensor.empty() : tensor<3x19x5xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<3x19x5xf32>) -> tensor<3x19x5xf32>
  %ro = linalg.batch_matmul ins(%p, %v : tensor<3x19x23xf32>, tensor<3x23x5xf32>) outs(%fo : tensor<3x19x5xf32>) -> tensor<3x19x5xf32>
  return %ra, %rb, %rc, %ro : tensor<17x31xf32>, tensor<9x1100xf32>, tensor<37x20xf32>, tensor<3x19x5xf32>
}
