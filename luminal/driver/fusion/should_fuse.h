// should_fuse: whether to fuse a pattern at a shape, by measurement on this machine;
// docs/fusion.md.
#pragma once

#include <cstdint>
#include <string>

#include "luminal/base/visibility.h"
#include "luminal/driver/compile.h"
#include "luminal/search/fusion/fusion_pattern.h"

namespace luminal {

// Where an answer comes from.
enum class FusionSource : uint8_t {
  Profile,     // measured before, at this shape
  Between,     // the neighbours below and above, in tokens, agree
  Measured,    // now
  Remembered,  // measured earlier in this process
  Records,     // the tuning records, at this shape
};

LUMINAL_API const char* text(FusionSource source);  // "profile", "measured now"

struct FusionAnswer {
  bool fuse = false;
  // Time of the fused plan / time of the other: below 1, fusing wins. The median over rounds in
  // which both ran alternately, and its 95 % interval. If that contains 1, or is so wide that it
  // must be noise, it is a tie, which goes to fewer kernels, and then to fusing.
  double ratio = 1;
  double low = 1;
  double high = 1;
  int rounds = 0;  // 0: both are the same plan, so nothing was timed
  int fused_kernels = 0;
  int unfused_kernels = 0;
  FusionSource source = FusionSource::Measured;
  std::string note = {};  // "of 64 and 128 tokens"
};

// How a question is measured.
struct FusionTiming {
  double seconds = 1;  // approximate; longer if single runs are long
  uint64_t seed = 1;   // of the data
};

// Answers from the profile and the tuning records in `options`; what neither holds is measured:
// both plans are compiled with the options' backend, numerics and storage, their results compared,
// and their runs timed alternately. The answer is stored in both. UserError for a shape without
// elements or a damaged profile.
LUMINAL_API FusionAnswer should_fuse(FusionPattern pattern, const FusionShape& shape,
                                     const CompileOptions& options = {},
                                     const FusionTiming& timing = {});

}  // namespace luminal
