# Compile settings and the functions that every CMakeLists.txt of this tree
# uses to add a library, a tool or a unit test.

# MLIR and LLVM are used as shared libraries only: a static component archive
# beside libMLIR.so would bring a second copy of every type id.
foreach(lib MLIR LLVM)
  if(NOT TARGET ${lib})
    message(FATAL_ERROR "The MLIR package has no shared library target '${lib}'")
  endif()
endforeach()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${CCACHE_PROGRAM})
endif()

find_program(ANSOR_LLD NAMES ld.lld HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
if(ANSOR_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_link_options(-fuse-ld=lld)
endif()

separate_arguments(_defs NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${_defs})
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${CMAKE_CURRENT_SOURCE_DIR}/include
                    ${CMAKE_CURRENT_BINARY_DIR}/include)

# Executables too are compiled with -fPIC: the precompiled header is shared.
set(ANSOR_CXX_FLAGS -fPIC -fno-exceptions -Wall -Wextra -Wno-unused-parameter)
if(NOT LLVM_ENABLE_RTTI)
  list(APPEND ANSOR_CXX_FLAGS -fno-rtti)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Needed for ccache to accept a precompiled header.
  list(APPEND ANSOR_CXX_FLAGS "SHELL:-Xclang -fno-pch-timestamp")
endif()

# The one precompiled header of the tree, shared by every MLIR-based target.
add_library(AnsorPCH OBJECT ${CMAKE_CURRENT_SOURCE_DIR}/cmake/pch.cpp)
target_precompile_headers(AnsorPCH PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/cmake/pch.h)
target_compile_options(AnsorPCH PRIVATE ${ANSOR_CXX_FLAGS})

set_property(GLOBAL PROPERTY ANSOR_LIBRARIES "")

# Generated headers that every library may include.
add_custom_target(ansor-headers)

# ansor_add_library(<name> <sources...> [LINK <targets...>])
# A static, position independent library that is part of the Ansor package.
function(ansor_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE ${ANSOR_CXX_FLAGS})
  target_precompile_headers(${name} REUSE_FROM AnsorPCH)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  add_dependencies(${name} ansor-headers)
  set_property(GLOBAL APPEND PROPERTY ANSOR_LIBRARIES ${name})
endfunction()

# ansor_add_tool(<name> <sources...> [LINK <targets...>])
function(ansor_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE ${ANSOR_CXX_FLAGS})
  target_precompile_headers(${name} REUSE_FROM AnsorPCH)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};${LLVM_LIBRARY_DIR}")
  add_dependencies(${name} ansor-headers)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# ansor_add_unittest(<name> <sources...> [LINK <targets...>])
# A GoogleTest binary, run by the check-ansor target.
function(ansor_add_unittest name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE ${ANSOR_CXX_FLAGS})
  target_precompile_headers(${name} REUSE_FROM AnsorPCH)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/unittests)
  add_dependencies(${name} ansor-headers)
  add_dependencies(AnsorUnitTests ${name})
endfunction()
