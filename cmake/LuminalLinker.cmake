# A build with tests links a hundred programs, where the linker's time counts: it takes the first of
# these that the compiler finds. Releases keep the compiler's own.
include(CheckLinkerFlag)

foreach(linker mold lld gold)
  check_linker_flag(CXX -fuse-ld=${linker} LUMINAL_LINKS_WITH_${linker})
  if(LUMINAL_LINKS_WITH_${linker})
    add_link_options(-fuse-ld=${linker})
    break()
  endif()
endforeach()
