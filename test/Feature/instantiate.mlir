// These kinds of operators must not fall back to interpretation.
// RUN: ansor-opt %s --ansor-extract-tasks --ansor-print-features="compare=200 target=x86-64-v4" -o /dev/null | FileCheck %s
// RUN: ansor-opt %s --ansor-extract-tasks --ansor-print-features="compare=200 target=x86-64-v3 seed=1" -o /dev/null | FileCheck %s
// RUN: ansor-opt %kernels/20-pad_depthwise_relu6.mlir --ansor-extract-tasks --ansor-print-features="compare=200 target=x86-64-v4" -o /dev/null | FileCheck %s
// RUN: ansor-opt %kernels/31-softmax_named_last.mlir --ansor-extract-tasks --ansor-print-features="compare=200 target=x86-64-v4" -o /dev/null | FileCheck %s --check-prefix=ROWS
// RUN: ansor-opt %kernels/36-layernorm_rows.mlir --ansor-extract-tasks --ansor-print-features="compare=200 target=x86-64-v4" -o /dev/null | FileCheck %s
// RUN: ansor-opt %kernels/27-maxpool_neginf_pad.mlir --ansor-extract-tasks --ansor-print-features="compare=200 target=x86-64-v4" -o /dev/null | FileCheck %s
// Without tasks there is nothing to compare.
// RUN: ansor-opt %s --ansor-print-features="compare=1" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK-NOT: "qualifies":false
// CHECK: "qualifies":true{{.*}}"interpreted":0,"compared":200,"different":0}
// CHECK-NOT: "qualifies":false
// Rows in pieces: the loop over the pieces may be dropped, and that is seen.
// ROWS-NOT: "different":{{[1-9]}}
// ROWS: "qualifies":false,"reason":"the structure of the program depends on the decisions"
// ROWS-NOT: "different":{{[1-9]}}
// NONE: remark: no function has ansor.task: extract tasks first

func.func @matmul(%a: tensor<96x60xf32>, %b: tensor<60x128xf32>) -> tensor<96x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<96x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<96x128xf32>) -> tensor<96x128xf32>
  %product = linalg.matmul ins(%a, %b : tensor<96x60xf32>, tensor<60x128xf32>)
      outs(%init : tensor<96x128xf32>) -> tensor<96x128xf32>
  return %product : tensor<96x128xf32>
}

func.func @conv(%image: tensor<1x30x30x24xf32>, %filter: tensor<3x3x24x32xf32>) -> tensor<1x14x14x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x14x14x32xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x14x14x32xf32>) -> tensor<1x14x14x32xf32>
  %conv = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%image, %filter : tensor<1x30x30x24xf32>, tensor<3x3x24x32xf32>)
      outs(%init : tensor<1x14x14x32xf32>) -> tensor<1x14x14x32xf32>
  return %conv : tensor<1x14x14x32xf32>
}
