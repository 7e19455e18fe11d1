// A library as tuning writes it, for the task of apply-library.mlir.
module attributes {ansor.library = 1 : i64, transform.with_named_sequence} {
  transform.named_sequence @schedule(%func: !transform.any_op {transform.readonly}) attributes {ansor.median_ms = 0.5 : f64, ansor.sketch = "s0", ansor.speedup = 4.0 : f64, ansor.target = "test", ansor.task = "@KEY@", ansor.trials = 8 : i64} {
    %size = transform.param.constant 4 : i64 -> !transform.param<i64>
    %op = transform.structured.match attributes {ansor.stage = 0 : i64} in %func : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [%size] : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["func.func"]} attributes {ansor.task = "@KEY@"} in %module : (!transform.any_op) -> !transform.any_op
    transform.foreach %f : !transform.any_op {
    ^bb0(%func: !transform.any_op):
      transform.include @schedule failures(propagate) (%func) : (!transform.any_op) -> ()
    }
    transform.yield
  }
}
