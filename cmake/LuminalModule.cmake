# luminal_module(name SOURCES … PUBLIC … DEPS … LINKS …): a module is a folder, a namespace and one target.
#   SOURCES  its .cpp files            PUBLIC  headers that install (they include only PUBLIC ones)
#   DEPS     modules it may include    LINKS   third-party targets its .cpp files use
# Modules are object libraries: luminal_library() puts them together into what users link.

# Flags every target of the project compiles with; none of them reaches a user's target.
function(luminal_target_settings target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Werror=switch
    $<$<BOOL:${LUMINAL_WERROR}>:-Werror>
    # A failed check names its file from the project's root; where that lay is nobody's business.
    -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=
    # g++ 12 warns about its own std::string operator+ (GCC bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    # At -O2 it takes the unused alternatives of a std::variant for values; clang has this warning too.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
    # In joined sources g++ takes each one for a header that is included elsewhere too.
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>)
  if(LUMINAL_STATIC_DEPENDENCIES)
    # Of the archives only what is called stays, and only what is ours is seen from outside.
    target_link_options(${target} PRIVATE -Wl,--gc-sections -Wl,--exclude-libs,ALL
      -Wl,-z,pack-relative-relocs)
  endif()
  if(LUMINAL_SANITIZE)
    # These checks take a third of the build. ASan refuses what is read through a null or a dead object; a wrong
    # static_cast of a live one (vptr) is no longer seen.
    target_compile_options(${target} PRIVATE -fsanitize=${LUMINAL_SANITIZE} -fno-omit-frame-pointer
      -fno-sanitize-recover=all -fno-sanitize=null,object-size,vptr)
    target_link_options(${target} PUBLIC -fsanitize=${LUMINAL_SANITIZE})
  endif()
endfunction()

# For tests, examples, benchmarks and the program: it is the library that works, and that sanitizers look at.
function(luminal_compile_quickly target)
  if(LUMINAL_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  else()
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

function(luminal_module name)
  cmake_parse_arguments(PARSE_ARGV 1 module "" "" "SOURCES;PUBLIC;DEPS;LINKS")
  if(module_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "luminal_module(${name}): unknown arguments: ${module_UNPARSED_ARGUMENTS}")
  endif()
  set(target luminal_module_${name})
  add_library(${target} OBJECT ${module_SOURCES})
  luminal_target_settings(${target})
  if(LUMINAL_BUILD_FUZZERS)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  foreach(dep IN LISTS module_DEPS)
    if(NOT TARGET luminal_module_${dep})
      message(FATAL_ERROR "luminal_module(${name}): '${dep}' is not defined yet; see luminal/LAYERS")
    endif()
  endforeach()
  target_link_libraries(${target} PRIVATE ${module_LINKS})
  list(TRANSFORM module_PUBLIC PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  set_target_properties(${target} PROPERTIES
    luminal_public_headers "${module_PUBLIC}" luminal_links "${module_LINKS}")
endfunction()

# Whether a third-party target has nothing to link: then users of an installed archive don't need it.
function(luminal_is_header_only target result)
  set(${result} FALSE PARENT_SCOPE)
  if(TARGET ${target})
    get_target_property(type ${target} TYPE)
    get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
    if(type STREQUAL "INTERFACE_LIBRARY" AND NOT links)
      set(${result} TRUE PARENT_SCOPE)
    endif()
  endif()
endfunction()

# luminal_library(target MODULES … HEADERS …): the named modules as one library with its installed headers.
function(luminal_library target)
  cmake_parse_arguments(PARSE_ARGV 1 library "" "" "MODULES;HEADERS")
  add_library(${target})
  luminal_target_settings(${target})
  set(headers ${library_HEADERS})
  foreach(module IN LISTS library_MODULES)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:luminal_module_${module}>)
    get_target_property(module_headers luminal_module_${module} luminal_public_headers)
    list(APPEND headers ${module_headers})
    get_target_property(module_links luminal_module_${module} luminal_links)
    foreach(link IN LISTS module_links)
      luminal_is_header_only(${link} header_only)
      if(NOT header_only)
        target_link_libraries(${target} PRIVATE ${link})
      endif()
    endforeach()
  endforeach()
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  # An archive of object libraries has no source of its own, so its language must be said.
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endfunction()
