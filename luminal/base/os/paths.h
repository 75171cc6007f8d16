// Folders the library uses, and the one place that reads the environment.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace luminal::base {

// The value of an environment variable; empty when it is unset or set to nothing.
std::optional<std::string> environment(const char* name);

// Where compiled kernels and tuning records go: $XDG_CACHE_HOME/luminal, or ~/.cache/luminal.
// It need not exist. UserError when neither variable says where.
std::filesystem::path cache_folder();

// The folder for the user's state, such as a chat history: $XDG_STATE_HOME/luminal, or
// ~/.local/state/luminal. Otherwise like cache_folder().
std::filesystem::path state_folder();

// Whether files can be created in `folder`, or `folder` itself where it doesn't exist yet. Tries by
// making and removing a folder in the nearest existing one.
bool is_writable_folder(const std::filesystem::path& folder);

// Why other users could change what `folder` holds: it isn't a folder, it belongs to someone else,
// or they may write to it. Empty if they can't, or if there is no such folder.
std::string why_not_private(const std::filesystem::path& folder);

// A new private folder in the system's temporary directory, removed with this object.
class TemporaryFolder {
 public:
  TemporaryFolder();  // UserError on failure
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace luminal::base
