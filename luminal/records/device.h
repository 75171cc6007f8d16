// This machine as a device of records.
#pragma once

#include <string_view>

#include "luminal/records/record.h"

namespace luminal::records {

// This processor, used by so many threads with the instruction sets of a target ("avx512"; empty:
// all there are). The same machine, target and threads give the same fingerprint in every process.
Device this_device(std::string_view target, int threads);

// Whether it was this kind of processor, with whichever target and threads.
bool is_this_processor(const Device& device);

}  // namespace luminal::records
