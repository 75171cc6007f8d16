// What options that take a number accept: errors are short, and nothing is clamped.
#pragma once

#include <CLI/CLI.hpp>

namespace luminal::cli {

// A number of at least 0; one above 0.
CLI::Validator not_negative();
CLI::Validator positive();
// Digits that fit 64 bits.
CLI::Validator whole_number();
// Digits, then perhaps a unit; to be added after CLI::AsSizeValue, so that it looks first.
CLI::Validator whole_bytes();

}  // namespace luminal::cli
