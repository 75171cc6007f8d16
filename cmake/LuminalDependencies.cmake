# The third-party packages of the library: LLVM, fmt, SQLite, nlohmann-json, oneDNN. With LUMINAL_STATIC_DEPENDENCIES
# they go into the library and the program, which then need the C and the C++ runtime alone; without it they are linked
# as the system has them.
option(LUMINAL_STATIC_DEPENDENCIES
  "Put LLVM (for x86-64 only), fmt and SQLite into the shared library and the program" OFF)
if(LUMINAL_STATIC_DEPENDENCIES AND LUMINAL_INSTALL AND NOT BUILD_SHARED_LIBS)
  message(FATAL_ERROR "LUMINAL_STATIC_DEPENDENCIES needs BUILD_SHARED_LIBS=ON: an installed archive can't hold others")
endif()

find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
include(${CMAKE_CURRENT_LIST_DIR}/LuminalLLVM.cmake)
if(LUMINAL_STATIC_DEPENDENCIES)
  # Defined as Debian's shared library has it, so that the library's objects are those of any other build.
  find_path(fmt_INCLUDE_DIR fmt/format-inl.h REQUIRED)
  add_library(luminal_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt_archive.cpp)
  luminal_target_settings(luminal_fmt)
  target_include_directories(luminal_fmt SYSTEM PUBLIC ${fmt_INCLUDE_DIR})
  target_compile_definitions(luminal_fmt PUBLIC FMT_SHARED)
  add_library(fmt::fmt ALIAS luminal_fmt)
  find_library(SQLite3_ARCHIVE libsqlite3.a REQUIRED)
  find_path(SQLite3_INCLUDE_DIR sqlite3.h REQUIRED)
  mark_as_advanced(fmt_INCLUDE_DIR SQLite3_ARCHIVE SQLite3_INCLUDE_DIR)
  add_library(SQLite::SQLite3 STATIC IMPORTED)
  set_target_properties(SQLite::SQLite3 PROPERTIES IMPORTED_LOCATION ${SQLite3_ARCHIVE}
    INTERFACE_INCLUDE_DIRECTORIES ${SQLite3_INCLUDE_DIR} INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
else()
  find_package(fmt REQUIRED)
  find_package(SQLite3 3.37 REQUIRED)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/LuminalOneDNN.cmake)
