// Writes whole files so that whoever reads meets the old one or the new one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace luminal::base {

enum class FileReaders : uint8_t {
  AsUsual,  // by the umask
  Owner,    // nobody else may read or write it
};

// Beside its place, then renamed. False where that can't be; then nothing is left behind, and what
// was there stays.
bool replace_file(const std::filesystem::path& file, std::string_view bytes,
                  FileReaders readers = FileReaders::AsUsual);

}  // namespace luminal::base
