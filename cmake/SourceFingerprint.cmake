# cmake -D ROOT=… -D OUTPUT=… -P SourceFingerprint.cmake: writes base/source_fingerprint.cpp, with a hash over
# the sources of the modules that decide plans and code. Included, it only says which those are.
set(fingerprint_modules base shape egraph graph kernel rules search runtime backends driver)

function(luminal_fingerprint_files root result)
  set(files "")
  foreach(module IN LISTS fingerprint_modules)
    file(GLOB_RECURSE found RELATIVE ${root} ${root}/luminal/${module}/*.h ${root}/luminal/${module}/*.cpp
      ${root}/luminal/${module}/*.def ${root}/luminal/${module}/*.egg)
    list(APPEND files ${found})
  endforeach()
  list(SORT files)
  set(${result} ${files} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  luminal_fingerprint_files(${ROOT} files)
  set(all "")
  foreach(file IN LISTS files)
    file(SHA256 ${ROOT}/${file} hash)
    string(APPEND all "${file} ${hash}\n")
  endforeach()
  string(SHA256 fingerprint "${all}")
  file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
// Made from the sources by CMake.
#include "luminal/base/source_fingerprint.h"

namespace luminal::base {

std::string_view source_fingerprint() {
  return "@fingerprint@";
}

}  // namespace luminal::base
]])
endif()
