// The Device that describes this machine in records.
#pragma once

#include <string_view>

#include "luminal/records/record.h"

namespace luminal::records {

// This processor with a number of threads and the instruction sets of a target ("avx512"; empty
// means all). The same machine, target and threads give the same fingerprint in every process.
Device this_device(std::string_view target, int threads);

// Whether the device has this kind of processor, with any target and number of threads.
bool is_this_processor(const Device& device);

}  // namespace luminal::records
