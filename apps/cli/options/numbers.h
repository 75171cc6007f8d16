// Validators of numeric options: short messages, no clamping.
#pragma once

#include <CLI/CLI.hpp>

namespace luminal::cli {

// A number >= 0; a number > 0.
CLI::Validator not_negative();
CLI::Validator positive();
// Digits that fit into 64 bits.
CLI::Validator whole_number();
// Digits with an optional unit; add it after CLI::AsSizeValue, so that it runs first.
CLI::Validator whole_bytes();

}  // namespace luminal::cli
