// TokenId: the index of a token in a vocabulary.
#pragma once

#include <cstdint>

namespace luminal {

// The index type of model inputs; never negative.
using TokenId = int32_t;

}  // namespace luminal
