# Finds the C API of XGBoost and defines the imported target XGBoost::XGBoost.
# Debian's own package config demands a command line tool that no Debian
# package holds, so the header and the library are looked up here.
find_path(XGBoost_INCLUDE_DIR xgboost/c_api.h)
find_library(XGBoost_LIBRARY xgboost)

if(XGBoost_INCLUDE_DIR AND EXISTS "${XGBoost_INCLUDE_DIR}/xgboost/version_config.h")
  file(STRINGS "${XGBoost_INCLUDE_DIR}/xgboost/version_config.h" _lines
       REGEX "define XGBOOST_VER_(MAJOR|MINOR|PATCH)")
  string(REGEX REPLACE "[^0-9;]" "" _numbers "${_lines}")
  list(JOIN _numbers "." XGBoost_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XGBoost
  REQUIRED_VARS XGBoost_LIBRARY XGBoost_INCLUDE_DIR
  VERSION_VAR XGBoost_VERSION
  REASON_FAILURE_MESSAGE "install libxgboost-dev, or set CMAKE_PREFIX_PATH")
mark_as_advanced(XGBoost_INCLUDE_DIR XGBoost_LIBRARY)

if(XGBoost_FOUND AND NOT TARGET XGBoost::XGBoost)
  add_library(XGBoost::XGBoost UNKNOWN IMPORTED)
  set_target_properties(XGBoost::XGBoost PROPERTIES
    IMPORTED_LOCATION "${XGBoost_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${XGBoost_INCLUDE_DIR}")
endif()
