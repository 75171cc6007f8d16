// Labelled lines of bounded length, for reports that people read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace luminal {

// "  label     text …": words that don't fit wrap to lines below, aligned with the text.
std::string labelled(std::string_view label, std::string_view text);

// The first items and the last one, with "…" between, if there are more than `most`.
std::string shortened(const std::vector<std::string>& items, size_t most);

// Signed, "+2.2" or "−2.2".
std::string signed_us(double us);

}  // namespace luminal
