#include "luminal/driver/fusion/should_fuse.h"

#include "luminal/driver/fusion/fusion_answers.h"

namespace luminal {

const char* text(FusionSource source) {
  switch (source) {
    case FusionSource::Profile:
      return "profile";
    case FusionSource::Between:
      return "between";
    case FusionSource::Measured:
      return "measured now";
    case FusionSource::Remembered:
      return "measured before";
    case FusionSource::Records:
      return "records";
  }
  return "";
}

FusionAnswer should_fuse(FusionPattern pattern, const FusionShape& shape,
                         const CompileOptions& options, const FusionTiming& timing) {
  return FusionAnswers(options).find(pattern, shape, timing);
}

}  // namespace luminal
