// Guards: what a program assumes of its sizes, as Python text.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "luminal/pytorch/pt2/symbols.h"
#include "luminal/shape/expr.h"

namespace luminal::pytorch {

// Dim `axis` of an input: of "L['cache'][0].size()[2]" dim 2 of the input cache_0. None if there is
// no such dim.
using InputDim = std::function<std::optional<Expr>(const std::string& input, size_t axis)>;

// Takes in what guards say of sizes: equal ones are one variable, multiples are written as such,
// and bounds are narrowed. "L['ids'].size()[1] % 4 == 0", "s77 <= (s2 + 3) // 4"; what isn't
// understood adds nothing. UserError that names a guard which leaves no size.
void assume(std::span<const std::string> guards, const InputDim& dim, Symbols& symbols);

}  // namespace luminal::pytorch
