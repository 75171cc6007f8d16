// Replaces files atomically: a reader sees the whole old file or the whole new one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace luminal::base {

enum class FileReaders : uint8_t {
  AsUsual,  // by the umask
  Owner,    // nobody else may read or write it
};

// Writes a temporary file beside `file`, whose name ends in ".tmp", then renames it. Any thread may
// replace any file. Returns false on failure; the temporary file is then removed and the old file
// is unchanged.
bool replace_file(const std::filesystem::path& file, std::string_view bytes,
                  FileReaders readers = FileReaders::AsUsual);

}  // namespace luminal::base
