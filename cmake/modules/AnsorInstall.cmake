# The CMake package, for the build tree and for the install tree.
include(CMakePackageConfigHelpers)

set(ANSOR_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/ansor)
get_property(libraries GLOBAL PROPERTY ANSOR_LIBRARIES)

install(TARGETS ${libraries} EXPORT AnsorTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT AnsorTargets DESTINATION ${ANSOR_PACKAGE_DIR})
export(EXPORT AnsorTargets
  FILE ${PROJECT_BINARY_DIR}/lib/cmake/ansor/AnsorTargets.cmake)

# One header of the build tree stands for its two include folders; the targets
# know both.
set(ANSOR_CONFIG_INCLUDE_DIR ${PROJECT_SOURCE_DIR}/include)
set(ANSOR_CONFIG_TOOLS_DIR ${PROJECT_BINARY_DIR}/bin)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/modules/AnsorConfig.cmake.in
  ${PROJECT_BINARY_DIR}/lib/cmake/ansor/AnsorConfig.cmake
  INSTALL_DESTINATION ${PROJECT_BINARY_DIR}/lib/cmake/ansor
  INSTALL_PREFIX ${PROJECT_BINARY_DIR}
  PATH_VARS ANSOR_CONFIG_INCLUDE_DIR ANSOR_CONFIG_TOOLS_DIR)

set(ANSOR_CONFIG_INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR})
set(ANSOR_CONFIG_TOOLS_DIR ${CMAKE_INSTALL_BINDIR})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/modules/AnsorConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/AnsorConfig.cmake
  INSTALL_DESTINATION ${ANSOR_PACKAGE_DIR}
  PATH_VARS ANSOR_CONFIG_INCLUDE_DIR ANSOR_CONFIG_TOOLS_DIR)

foreach(dir ${PROJECT_BINARY_DIR}/lib/cmake/ansor ${PROJECT_BINARY_DIR}/package)
  write_basic_package_version_file(${dir}/AnsorConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
endforeach()
# AnsorConfig.cmake looks for XGBoost as this tree does.
configure_file(${PROJECT_SOURCE_DIR}/cmake/modules/FindXGBoost.cmake
               ${PROJECT_BINARY_DIR}/lib/cmake/ansor/FindXGBoost.cmake COPYONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/AnsorConfig.cmake
              ${PROJECT_SOURCE_DIR}/cmake/modules/FindXGBoost.cmake
              ${PROJECT_BINARY_DIR}/package/AnsorConfigVersion.cmake
  DESTINATION ${ANSOR_PACKAGE_DIR})

install(DIRECTORY include/ansor include/ansor-c
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/ansor
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.inc"
  PATTERN "CMakeFiles" EXCLUDE)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ansor-mlir)
