// Files: how programs reach files, so that a host decides what they may read and write.
#pragma once

#include "luminal/base/visibility.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace luminal::egraph {

// An empty function forbids what it is for; `Files{}` runs programs without any file.
struct Files {
  // The text of a file, or none where it can't be read; for input, and for include where that has
  // no function of its own.
  std::function<std::optional<std::string>(const std::string& path)> read;
  // Adds to the end of a file that may not be there yet, or returns false; for output.
  std::function<bool(const std::string& path, std::string_view text)> append;
  // The text of a file to include, or none.
  std::function<std::optional<std::string>(const std::string& path)> include = {};
  // What an error about a file adds: how the user allows it.
  std::string hint = {};
};

// The machine's own; relative paths start at the working directory.
LUMINAL_API Files system_files();
// Programs include what lies in a folder or below it, and reach no other files.
LUMINAL_API Files files_of_folder(const std::string& folder);

}  // namespace luminal::egraph
