#include "apps/cli/terminal/editline_library.h"

#include <optional>

#include "luminal/base/os/library.h"

namespace luminal::cli {
namespace {

std::optional<EditlineLibrary> load() {
  // Debian's name, then that of other distributions.
  const auto library = base::SharedLibrary::open({"libedit.so.2", "libedit.so.0"});
  if (library == nullptr) return std::nullopt;
  EditlineLibrary found = {};
  bool whole = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library->symbol(name));
    whole = whole && function != nullptr;
  };
  find(found.history_init, "history_init");
  find(found.history_end, "history_end");
  find(found.history, "history");
  find(found.el_init, "el_init");
  find(found.el_end, "el_end");
  find(found.el_set, "el_set");
  find(found.el_get, "el_get");
  find(found.el_gets, "el_gets");
  find(found.el_source, "el_source");
  find(found.el_resize, "el_resize");
  find(found.el_wgetc, "el_wgetc");
  find(found.el_winsertstr, "el_winsertstr");
  return whole ? std::optional(found) : std::nullopt;
}

}  // namespace

const EditlineLibrary* editline_library() {
  static const std::optional<EditlineLibrary> library = load();
  return library ? &*library : nullptr;
}

}  // namespace luminal::cli
