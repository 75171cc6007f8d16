// Whole files, with errors that name them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace luminal::bench {

// UserError where it can't be read.
std::string read_file(const std::filesystem::path& path);
// Beside its place first, then renamed: whoever reads it sees all of it or nothing. UserError where
// that fails.
void write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace luminal::bench
