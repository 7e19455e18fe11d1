/* Walks the whole C interface: ansor-capi-test MODULE.mlir [LIBRARY.mlir] */
#include "ansor-c/Ansor.h"
#include <stdio.h>
#include <stdlib.h>

static void printTask(MlirStringRef key, MlirStringRef name, int64_t weight,
                      double flops, void *userData) {
  ++*(int *)userData;
  printf("task %.*s key %.*s weight %lld flops %.0f\n", (int)name.length,
         name.data, (int)key.length, key.data, (long long)weight, flops);
}

static void print(MlirStringRef text, void *userData) {
  fwrite(text.data, 1, text.length, (FILE *)userData);
}

static int check(MlirLogicalResult result, const char *what) {
  if (mlirLogicalResultIsSuccess(result))
    return 0;
  fprintf(stderr, "%s failed\n", what);
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  ansorRegisterDialects(registry);
  ansorRegisterPasses();
  MlirContext context =
      mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  mlirDialectRegistryDestroy(registry);

  FILE *file = fopen(argv[1], "rb");
  if (!file)
    return 2;
  static char text[1 << 20];
  text[fread(text, 1, sizeof(text) - 1, file)] = 0;
  fclose(file);

  int failed = 1, tasks = 0;
  MlirModule module =
      mlirModuleCreateParse(context, mlirStringRefCreateFromCString(text));
  if (!mlirModuleIsNull(module)) {
    failed = check(ansorExtractTasks(module), "extract");
    ansorForEachTask(module, printTask, &tasks);
    printf("%d tasks\n", tasks);
    unsigned applied = 0;
    if (!failed && argc > 2) {
      failed = check(
          ansorApplyLibrary(module, mlirStringRefCreateFromCString(argv[2]),
                            &applied),
          "apply");
      printf("%u applied\n", applied);
    }
    if (!failed)
      failed = check(ansorInlineTasks(module), "inline") ||
               check(ansorLowerToCPU(module, /*parallel=*/false,
                                     /*strictFP=*/false),
                     "lower");
    if (!failed)
      mlirOperationPrint(mlirModuleGetOperation(module), print, stdout);
    mlirModuleDestroy(module);
  }
  mlirContextDestroy(context);
  return failed;
}
