// near_names: what may have been meant by a name that isn't there.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::base {

// Up to three of `candidates`: those that differ from `wanted` by a prefix ("fc.weight" and
// "model.fc.weight"), else those within a third of its length in edits.
std::vector<std::string> near_names(std::string_view wanted,
                                    std::span<const std::string> candidates);

}  // namespace luminal::base
