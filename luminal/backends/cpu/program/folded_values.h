// FoldedValues: constants folded from weights alone, keyed by how they are computed. The programs
// of one executable share them: what both prefill and decode read is stored once.
#pragma once

#include <map>
#include <string>

#include "luminal/runtime/buffer.h"

namespace luminal::backends::cpu {

using FoldedValues = std::map<std::string, runtime::Buffer>;  // by RunTensor::folded_key

}  // namespace luminal::backends::cpu
