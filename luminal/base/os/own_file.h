// Files that only this user, or the system's administrator, could have written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace luminal::base {

// Why others could have written a file: it belongs to another user, they may write to it, or it is
// no plain file (a symlink, a folder, a device). Empty where they couldn't, and where there is
// none.
std::string why_not_own(const std::filesystem::path& file);

struct OwnFile {
  enum class State : uint8_t {
    Absent,
    NotOwn,   // see why_not_own; nothing was read
    Refused,  // larger than wanted, or it can't be read
    Read,
  };
  State state = State::Absent;
  std::string bytes;
};
// Opens a file of at most `most_bytes` without waiting or following a symlink, and looks at what
// was opened: neither a FIFO nor a file that is swapped at the same time gets past it.
OwnFile read_own_file(const std::filesystem::path& file, uint64_t most_bytes);

// Why others could put another file in the place of one in `folder`: it belongs to another user, or
// they may write to it and it isn't sticky, as /tmp is. Empty where they can't.
std::string why_others_may_replace(const std::filesystem::path& folder);

// Makes a folder and what is missing above it, each for this user alone whatever the umask. An
// existing folder stays as it is. False where that can't be.
bool make_private_folder(const std::filesystem::path& folder);

}  // namespace luminal::base
