// Whole files, with errors that name them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace luminal::bench {

// UserError if it can't be read.
std::string read_file(const std::filesystem::path& path);
// Writes a temporary file, then renames it: readers see all of it or nothing. UserError on failure.
void write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace luminal::bench
