# Finds the header of libedit; luminal_has_editline says whether it is there. The library itself is loaded when a chat
# begins (apps/cli/terminal/editline_library.h): nothing links it, and no release holds it.
find_path(Editline_INCLUDE_DIR histedit.h)
mark_as_advanced(Editline_INCLUDE_DIR)
if(Editline_INCLUDE_DIR)
  set(luminal_has_editline ON)
  message(STATUS "libedit: ${Editline_INCLUDE_DIR}")
else()
  set(luminal_has_editline OFF)
  message(STATUS "libedit isn't found: `luminal chat` has no line editing; install libedit-dev")
endif()
