# cmake -D ROOT=… -D OUTPUT=… -P SourceFingerprint.cmake: writes base/source_fingerprint.cpp, with a hash over
# the sources of the modules that decide plans and code, one over those that decide a given kernel's code and how it
# is launched, and one over those that decide how plans and code are written down. Included, it only says which those
# are.
set(fingerprint_modules base shape egraph graph kernel rules search runtime machine backends driver)
# What a kernel's time depends on, given its text, its schedule and the device.
set(code_modules kernel runtime backends)
# What kept plans and code are read by: the bytes, the types they are bytes of, and how code is called. An edit of
# any of these makes kept ones unreadable (driver/bundle.h), so none of them should hold anything else.
set(format_files base/byte_stream.h shape/expr/expr_bytes.h shape/expr/expr_bytes.cpp shape/dtypes.def graph/ops.def
  kernel/ir/kernel.h kernel/ir/kernel_bytes.h kernel/ir/kernel_bytes.cpp kernel/plan/plan.h kernel/plan/plan_bytes.h
  kernel/plan/plan_bytes.cpp kernel/plan/planned_graph.h kernel/plan/schedule_choices.h kernel/plan/knobs.def kernel/plan/strategy.h kernel/lower/term_graph.h backends/cpu/schedule/launch_form.h
  backends/cpu/llvm/kernel_function.h backends/cpu/program/kept_code.cpp driver/compile/bundle.cpp)

function(luminal_fingerprint_files root result)
  luminal_sources_of(files ${root} ${fingerprint_modules})
  set(${result} ${files} PARENT_SCOPE)
endfunction()

function(luminal_sources_of result root)
  set(files "")
  foreach(module IN LISTS ARGN)
    file(GLOB_RECURSE found RELATIVE ${root} ${root}/luminal/${module}/*.h ${root}/luminal/${module}/*.cpp
      ${root}/luminal/${module}/*.def ${root}/luminal/${module}/*.egg)
    list(APPEND files ${found})
  endforeach()
  list(SORT files)
  set(${result} ${files} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  function(hash_files result)
    set(all "")
    foreach(file IN LISTS ARGN)
      file(SHA256 ${ROOT}/${file} hash)
      string(APPEND all "${file} ${hash}\n")
    endforeach()
    string(SHA256 hash "${all}")
    set(${result} ${hash} PARENT_SCOPE)
  endfunction()
  luminal_fingerprint_files(${ROOT} files)
  hash_files(fingerprint ${files})
  luminal_sources_of(code_files ${ROOT} ${code_modules})
  hash_files(code ${code_files})
  list(TRANSFORM format_files PREPEND luminal/)
  hash_files(format ${format_files})
  file(STRINGS ${ROOT}/luminal/version.h version_line REGEX "define LUMINAL_VERSION \"")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" version "${version_line}")
  file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
// Made from the sources by CMake.
#include "luminal/base/source_fingerprint.h"

namespace luminal::base {

std::string_view library_version() {
  return "@version@";
}

std::string_view source_fingerprint() {
  return "@fingerprint@";
}

std::string_view code_fingerprint() {
  return "@code@";
}

std::string_view format_fingerprint() {
  return "@format@";
}

}  // namespace luminal::base
]])
endif()
