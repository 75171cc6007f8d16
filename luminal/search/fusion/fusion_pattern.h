// FusionPattern: the patterns whose fusion is decided separately, and their sizes.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/shape/dtype.h"

namespace luminal {

// docs/fusion.md lists the values of each that are stored or fused.
enum class FusionPattern : uint8_t {
  SwiGlu,      // silu(gate)·up of two projections of one tensor: are gate and up stored?
  AddRmsNorm,  // the RMS norm of a sum, read by projections: is the normalised value stored?
};
inline constexpr FusionPattern kFusionPatterns[] = {FusionPattern::SwiGlu,
                                                    FusionPattern::AddRmsNorm};

LUMINAL_API std::string_view name(FusionPattern pattern);  // "swiglu", "add-rms-norm"
LUMINAL_API std::optional<FusionPattern> fusion_pattern_from_name(std::string_view name);
LUMINAL_API std::vector<std::string> fusion_pattern_names();

// What a decision depends on besides the machine.
struct FusionShape {
  int64_t tokens = 1;        // rows: batch × length
  int64_t hidden = 0;        // features of what the projections read
  int64_t intermediate = 0;  // swiglu: of gate and up; add-rms-norm: of all that reads the norm
  DType dtype = DType::F32;  // that values are stored in

  friend bool operator==(const FusionShape&, const FusionShape&) = default;
};

// "128 tokens, 576 to 1536, f32"
LUMINAL_API std::string text(const FusionShape& shape);

}  // namespace luminal
