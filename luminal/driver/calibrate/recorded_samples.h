// Samples for a calibration from tuning records: what measured searches have timed on this device.
#pragma once

#include <string>
#include <vector>

#include "luminal/machine/peaks.h"
#include "luminal/records/record.h"
#include "luminal/search/cost/calibration.h"

namespace luminal {

// A kernel timed with its own schedule. None for others, and for kernels that update rows: their
// text doesn't say whether that is in place. What else the kernel's graph read is not recorded: the
// kernel's own bytes say which cache its data are in.
std::vector<search::CostSample> samples_of(const std::vector<records::KernelEntry>& entries,
                                           const machine::Peaks& peaks);

}  // namespace luminal
