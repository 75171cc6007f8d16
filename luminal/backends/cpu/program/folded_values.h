// FoldedValues: what was computed of weights alone, by what it is. The programs of one executable
// hold it together: what prefill and decode both read is there once.
#pragma once

#include <map>
#include <string>

#include "luminal/runtime/buffer.h"

namespace luminal::backends::cpu {

using FoldedValues = std::map<std::string, runtime::Buffer>;  // by RunTensor::folded_key

}  // namespace luminal::backends::cpu
