// The tables of a records file: opening one, old or new, so that the rest can rely on them.
#pragma once

#include <filesystem>
#include <memory>

#include "luminal/records/sqlite.h"

namespace luminal::records {

inline constexpr int kSchemaVersion = 2;

enum class Mode : uint8_t {
  ReadWrite,  // an absent file, and the folders above it, are made
  ReadOnly,
};

// UserError for what isn't a file of records of this version, with the way out.
std::unique_ptr<Connection> open_database(const std::filesystem::path& file, Mode mode);

}  // namespace luminal::records
