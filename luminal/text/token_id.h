// TokenId: what names a token of a vocabulary.
#pragma once

#include <cstdint>

namespace luminal {

// As models take them; never negative.
using TokenId = int32_t;

}  // namespace luminal
