// Sizes and names from files, as the tables of `luminal inspect` show them.
#pragma once

#include <cstdint>
#include <string>

namespace luminal::cli {

// "512 B", "12.3 kB", "97.6 MB", "1.20 GB"
std::string listing_size(int64_t bytes);

// A name from a file, made safe for a terminal.
std::string listing_name(const std::string& name);

}  // namespace luminal::cli
