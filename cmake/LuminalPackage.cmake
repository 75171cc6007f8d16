# What `cpack -G DEB` and `cpack -G TGZ` make: one package with the program, the libraries, headers, the CMake
# package, documentation and licences. The preset `package` is the build for it.
if(luminal_has_onednn)
  # Nothing that a package may depend on has it, and a run path into somebody's wheel isn't for others.
  message(STATUS "Packages: not from this build, which uses oneDNN; configure with the preset 'package'")
  return()
endif()

set(LUMINAL_PACKAGE_MAINTAINER "The Luminal in C++ authors <authors@luminal.invalid>"
  CACHE STRING "Whom a package names as its maintainer: Name <address>")

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME luminal)
string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
set(CPACK_PACKAGE_FILE_NAME luminal-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_VENDOR "The Luminal in C++ authors")
set(CPACK_PACKAGE_CONTACT ${LUMINAL_PACKAGE_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "search-based deep-learning compiler, as a C++ library and a program")
set(CPACK_PACKAGE_DESCRIPTION "Luminal compiles tensor programs to fused kernels that equality saturation and measuring choose.
The program runs language models and embeddings from their files and looks inside of what is compiled.
The library builds, compiles and runs graphs from C++20; the e-graph engine is there on its own too.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE-MIT)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
set(CPACK_MONOLITHIC_INSTALL ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libedit2)  # for lines that are edited in `luminal chat`
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/luminal)
include(CPack)
