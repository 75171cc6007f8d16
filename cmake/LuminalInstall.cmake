# What `cmake --install` puts where: libraries, PUBLIC headers, the CMake package, the program, licences.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/luminal)

# Two export sets, so that `find_package(luminal COMPONENTS egraph)` needs no third-party package.
install(TARGETS luminal EXPORT luminalTargets FILE_SET HEADERS)
install(TARGETS luminal_egraph EXPORT luminalEgraphTargets FILE_SET HEADERS)
install(EXPORT luminalTargets NAMESPACE luminal:: DESTINATION ${package_folder})
install(EXPORT luminalEgraphTargets NAMESPACE luminal:: DESTINATION ${package_folder})

if(luminal_has_onednn)
  get_filename_component(luminal_onednn_prefix ${OneDNN_INCLUDE_DIR} DIRECTORY)
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/luminalConfig.cmake.in
  ${PROJECT_BINARY_DIR}/luminalConfig.cmake INSTALL_DESTINATION ${package_folder})
# While the version is 0.x a new minor version may break (docs/stability.md).
write_basic_package_version_file(${PROJECT_BINARY_DIR}/luminalConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/luminalConfig.cmake
  ${PROJECT_BINARY_DIR}/luminalConfigVersion.cmake DESTINATION ${package_folder})

# An archive would have to name all that it needs; those who link one use the CMake package.
if(BUILD_SHARED_LIBS)
  set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH prefix_from_pc /${pkgconfig_folder} /)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/luminal.pc.in ${PROJECT_BINARY_DIR}/luminal.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/luminal.pc DESTINATION ${pkgconfig_folder})
endif()

# Wheels put oneDNN where the system's loader doesn't look: what is installed remembers where it was.
if(luminal_has_onednn)
  set_target_properties(luminal PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/FindOneDNN.cmake DESTINATION ${package_folder})
endif()
if(TARGET luminal_program)
  set_target_properties(luminal_program PROPERTIES INSTALL_RPATH_USE_LINK_PATH ${luminal_has_onednn})
  install(TARGETS luminal_program)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE-MIT ${PROJECT_SOURCE_DIR}/LICENSE-APACHE
  ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/SECURITY.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(LUMINAL_STATIC_DEPENDENCIES)
  set(packages_inside llvm-${LLVM_VERSION_MAJOR}-dev libfmt-dev libsqlite3-dev libcli11-dev nlohmann-json3-dev zlib1g-dev
    libzstd-dev)
  foreach(package IN LISTS packages_inside)
    set(licence /usr/share/doc/${package}/copyright)
    if(NOT EXISTS ${licence})
      message(FATAL_ERROR "there is no ${licence}, which must go with what holds it; install ${package}, or set "
        "LUMINAL_STATIC_DEPENDENCIES to OFF")
    endif()
    install(FILES ${licence} DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences RENAME ${package})
  endforeach()
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN *.md)
