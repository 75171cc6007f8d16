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

// Where what a user did is kept, as the history of a chat: $XDG_STATE_HOME/luminal, or
// ~/.local/state/luminal. As cache_folder() otherwise.
std::filesystem::path state_folder();

// Whether files can be created in `folder`, creating it (and what is above it) first if need be.
// Tries with a folder that it removes again, in the nearest folder above that exists.
bool is_writable_folder(const std::filesystem::path& folder);

// Why others than this user could change what `folder` holds: it belongs to someone else, or they
// may write to it. Empty where they can't, and where there is no such folder.
std::string why_not_private(const std::filesystem::path& folder);

// A new folder of this process alone, in the system's place for such, gone with this object.
class TemporaryFolder {
 public:
  TemporaryFolder();  // UserError where none can be made
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace luminal::base
