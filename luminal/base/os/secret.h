// A secret of this user, kept in a folder: 16 random bytes that nobody else can read.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

#include "luminal/base/result.h"

namespace luminal::base {

using Secret = std::array<uint8_t, 16>;

// The secret in `folder`, in a file named `secret` that is created on first use; concurrent
// processes get the same one. Fails if the folder or the file isn't private to this user, if the
// file isn't 16 bytes long, or if it can't be created.
Result<Secret> secret_of(const std::filesystem::path& folder);

// The secret in this user's cache folder, which is created if necessary.
Result<Secret> user_secret();

}  // namespace luminal::base
