# Finds oneDNN by its header and library: OneDNN_FOUND, OneDNN_VERSION, OneDNN_LIBRARY, and the target
# OneDNN::OneDNN. Only a build on gomp counts: with another OpenMP beside ours the process would have two
# pools of threads that fight for the cores. OneDNN_REASON says why one isn't there.
# OneDNN's own CMake files aren't used: they ask for policies that CMake 4 no longer has.
find_path(OneDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(OneDNN_LIBRARY dnnl)
mark_as_advanced(OneDNN_INCLUDE_DIR OneDNN_LIBRARY)

unset(OneDNN_VERSION)
unset(OneDNN_REASON)
set(OneDNN_ON_GOMP FALSE)
set(version_header ${OneDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h)
if(NOT EXISTS ${version_header} OR NOT EXISTS ${OneDNN_LIBRARY})
  set(OneDNN_REASON "its headers or its library aren't on CMake's paths")
else()
  file(STRINGS ${version_header} version_lines
    REGEX "define DNNL_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
  string(REGEX REPLACE "[^0-9;]" "" version_numbers "${version_lines}")
  list(JOIN version_numbers "." OneDNN_VERSION)
  execute_process(COMMAND ${CMAKE_READELF} -d ${OneDNN_LIBRARY}
    OUTPUT_VARIABLE needed_libraries ERROR_QUIET)
  if(needed_libraries MATCHES "libgomp\\.so")
    set(OneDNN_ON_GOMP TRUE)
  else()
    set(OneDNN_REASON "${OneDNN_LIBRARY} doesn't use gomp")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OneDNN
  REQUIRED_VARS OneDNN_LIBRARY OneDNN_INCLUDE_DIR OneDNN_ON_GOMP
  VERSION_VAR OneDNN_VERSION HANDLE_VERSION_RANGE REASON_FAILURE_MESSAGE "${OneDNN_REASON}")
if(NOT OneDNN_FOUND AND NOT OneDNN_REASON)
  set(OneDNN_REASON "${OneDNN_LIBRARY} is version ${OneDNN_VERSION}, not ${OneDNN_FIND_VERSION_COMPLETE}")
endif()

if(OneDNN_FOUND AND NOT TARGET OneDNN::OneDNN)
  add_library(OneDNN::OneDNN SHARED IMPORTED)
  set_target_properties(OneDNN::OneDNN PROPERTIES
    IMPORTED_LOCATION ${OneDNN_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${OneDNN_INCLUDE_DIR})
endif()
