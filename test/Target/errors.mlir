// RUN: not ansor-opt %s --ansor-attach-target=target=foo 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NAME
// RUN: not ansor-opt %s --ansor-attach-target=target=host:core=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=KEY
// RUN: not ansor-opt %s --ansor-attach-target=target=host:cores=-1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=VALUE

// NAME: errors.mlir:{{[0-9]+}}:1: error: unknown target "foo"; known are host, x86-64-v2, {{.*}}znver4{{.*}}; for another CPU, override the nearest of them: "x86-64-v3:cpu=NAME,cores=N"
// KEY: error: unknown target option 'core'; known are name, triple, cpu, features, cores, vector_bits
// VALUE: error: target option 'cores' must be an integer of at least 1, got "-1"
module {
}
