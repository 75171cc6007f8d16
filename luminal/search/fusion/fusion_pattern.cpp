#include "luminal/search/fusion/fusion_pattern.h"

#include <fmt/format.h>

namespace luminal {

std::string_view name(FusionPattern pattern) {
  switch (pattern) {
    case FusionPattern::SwiGlu:
      return "swiglu";
    case FusionPattern::AddRmsNorm:
      return "add-rms-norm";
  }
  return "";
}

std::optional<FusionPattern> fusion_pattern_from_name(std::string_view text) {
  for (FusionPattern pattern : kFusionPatterns) {
    if (name(pattern) == text) return pattern;
  }
  return std::nullopt;
}

std::vector<std::string> fusion_pattern_names() {
  std::vector<std::string> names;
  for (FusionPattern pattern : kFusionPatterns) names.emplace_back(name(pattern));
  return names;
}

std::string text(const FusionShape& shape) {
  return fmt::format("{} token{}, {} to {}, {}", shape.tokens, shape.tokens == 1 ? "" : "s",
                     shape.hidden, shape.intermediate, name(shape.dtype));
}

}  // namespace luminal
