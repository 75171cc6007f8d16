// The tables of a records file: opens or creates one and checks that they are as expected.
#pragma once

#include <filesystem>
#include <memory>

#include "luminal/records/sqlite.h"

namespace luminal::records {

inline constexpr int kSchemaVersion = 2;

enum class Mode : uint8_t {
  ReadWrite,  // creates the file and its parent folders if absent
  ReadOnly,
};

// UserError, with a remedy, if it isn't a file of records of this version.
std::unique_ptr<Connection> open_database(const std::filesystem::path& file, Mode mode);

}  // namespace luminal::records
