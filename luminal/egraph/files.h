// Files: the file access of programs, so that a host decides what they may read and write.
#pragma once

#include "luminal/base/visibility.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace luminal::egraph {

// An empty function forbids its operation; `Files{}` runs programs without file access.
struct Files {
  // The contents of a file, or nullopt if it can't be read; used by input, and by include unless
  // `include` is set.
  std::function<std::optional<std::string>(const std::string& path)> read;
  // Appends to a file, which is created if missing; returns false on failure. Used by output.
  std::function<bool(const std::string& path, std::string_view text)> append;
  // The contents of a file to include, or nullopt.
  std::function<std::optional<std::string>(const std::string& path)> include = {};
  // Appended to errors about a file: how the user can allow the access.
  std::string hint = {};
};

// The file system itself; relative paths start at the working directory.
LUMINAL_API Files system_files();
// Programs may include files below this folder, and access no others.
LUMINAL_API Files files_of_folder(const std::string& folder);

}  // namespace luminal::egraph
