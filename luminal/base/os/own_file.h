// Files that only this user, or the system's administrator, could have written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace luminal::base {

// Why others could have written a file: it belongs to another user, they may write to it, or it is
// not a regular file (a symlink, a folder, a device). Empty if they couldn't, or if there is no
// such file.
std::string why_not_own(const std::filesystem::path& file);

struct OwnFile {
  enum class State : uint8_t {
    Absent,
    NotOwn,   // see why_not_own; nothing was read
    Refused,  // larger than `most_bytes`, or unreadable
    Read,
  };
  State state = State::Absent;
  std::string bytes;
};
// Reads a file of at most `most_bytes`. Opens it without blocking or following symlinks and checks
// the open descriptor, so that neither a FIFO nor a file swapped meanwhile passes.
OwnFile read_own_file(const std::filesystem::path& file, uint64_t most_bytes);

// Why others could replace a file in `folder`: the folder belongs to another user, or they may
// write to it and it isn't sticky, as /tmp is. Empty if they can't.
std::string why_others_may_replace(const std::filesystem::path& folder);

// Creates a folder and its missing parents with mode 700, whatever the umask. An existing folder
// stays as it is. False on failure.
bool make_private_folder(const std::filesystem::path& folder);

}  // namespace luminal::base
