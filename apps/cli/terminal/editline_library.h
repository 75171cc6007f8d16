// libedit, loaded when a chat begins: without it a release runs, but without line editing.
#pragma once

#include <histedit.h>

namespace luminal::cli {

struct EditlineLibrary {
  decltype(&::history_init) history_init;
  decltype(&::history_end) history_end;
  decltype(&::history) history;
  decltype(&::el_init) el_init;
  decltype(&::el_end) el_end;
  decltype(&::el_set) el_set;
  decltype(&::el_get) el_get;
  decltype(&::el_gets) el_gets;
  decltype(&::el_source) el_source;
  decltype(&::el_resize) el_resize;
  decltype(&::el_wgetc) el_wgetc;
  decltype(&::el_winsertstr) el_winsertstr;
};

// Null if the system has no libedit, or one that lacks any of these functions.
const EditlineLibrary* editline_library();

}  // namespace luminal::cli
