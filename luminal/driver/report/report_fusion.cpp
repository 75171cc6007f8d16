// What a report says about the patterns whose fusing was decided.
#include <fmt/format.h>

#include "luminal/driver/report.h"

namespace luminal {
namespace {

constexpr size_t kMostPlaces = 3;

std::string places_text(const std::vector<std::string>& places) {
  std::string text;
  for (size_t i = 0; i < places.size() && i < kMostPlaces; ++i) {
    text += (i == 0 ? "" : ", ") + places[i];
  }
  const size_t more = places.size() > kMostPlaces ? places.size() - kMostPlaces : 0;
  return more == 0 ? text : text + fmt::format(" and {} more", more);
}

std::string shape_text(const FusionReport& decided) {
  if (decided.tokens == 0) return decided.dtype;
  return fmt::format("{} token{}, {} to {}, {}", decided.tokens, decided.tokens == 1 ? "" : "s",
                     decided.hidden, decided.intermediate, decided.dtype);
}

std::string figures_text(const FusionReport& decided) {
  if (decided.rounds == 0) return {};
  return fmt::format("; fused / unfused {:.3f} ({:.3f} … {:.3f}, {} rounds), kernels {} / {}",
                     decided.ratio, decided.low, decided.high, decided.rounds,
                     decided.fused_kernels, decided.unfused_kernels);
}

}  // namespace

std::string CompileReport::fusion_text() const {
  std::string lines;
  for (const FusionReport& decided : fusion) {
    lines +=
        fmt::format("  {} at {}{}{}: {}\n", decided.pattern, places_text(decided.places),
                    decided.variant.empty() ? "" : " for ", decided.variant, shape_text(decided));
    lines += fmt::format("    {}, {}{}{}{}\n", decided.decision, decided.source,
                         decided.note.empty() ? "" : ": ", decided.note, figures_text(decided));
  }
  return lines;
}

}  // namespace luminal
