#include "luminal/driver/fusion/fusion_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "luminal/base/source_fingerprint.h"
#include "luminal/driver/options/backend_rules.h"
#include "luminal/driver/options/load_options.h"
#include "luminal/records/device.h"

namespace luminal {
namespace {

// Entries further apart than this say nothing about shapes between them: a profile's own steps are
// factors of two, except for the one from decoding to prefill.
constexpr int64_t kMostApart = 4;
// Maximum high / low of an interval: on a quiet machine it is a few percent.
constexpr double kWidest = 2;

const char* library_text(LibraryPolicy policy) {
  switch (policy) {
    case LibraryPolicy::Never:
      return "never";
    case LibraryPolicy::Measured:
      return "measured";
    case LibraryPolicy::Always:
      return "always";
  }
  return "";
}

const char* numerics_text(Numerics numerics) {
  switch (numerics) {
    case Numerics::Exact:
      return "exact";
    case Numerics::Reassociating:
      return "reassociating";
    case Numerics::Finite:
      return "finite";
    case Numerics::Approximate:
      return "approximate";
  }
  return "";
}

}  // namespace

bool is_noisy(const FusionAnswer& answer) { return answer.high > kWidest * answer.low; }

bool is_fusing_better(const FusionAnswer& answer) {
  if (answer.rounds == 0) return false;
  const bool tie = (answer.low <= 1 && answer.high >= 1) || is_noisy(answer);
  return tie ? answer.fused_kernels <= answer.unfused_kernels : answer.high < 1;
}

std::string note_on(const FusionAnswer& answer) {
  if (answer.rounds == 0) return "both are the same plan";
  return is_noisy(answer) ? "the machine was too busy to tell" : "";
}

std::string FusionConditions::differ_from(const FusionConditions& other) const {
  if (device != other.device) {
    return fmt::format("another device ('{}' instead of '{}')", description, other.description);
  }
  if (compiler != other.compiler) return "another version of the compiler";
  if (options != other.options) {
    return fmt::format("other options ('{}' instead of '{}')", options, other.options);
  }
  return {};
}

FusionConditions fusion_conditions(const BackendOptions& backend, Numerics numerics) {
  records::Device device = records::this_device(backend.target, threads_of(backend));
  const std::string rules = backend_rules_digest(backend);
  return {.device = std::move(device.fingerprint),
          .description = std::move(device.description),
          .compiler = std::string(base::source_fingerprint()),
          .options = fmt::format("backend {}, library {}, numerics {}{}{}", backend.name,
                                 library_text(backend.library), numerics_text(numerics),
                                 rules.empty() ? "" : ", rules ", rules)};
}

FusionProfile::Key FusionProfile::key_of(FusionPattern pattern, const FusionShape& shape) {
  return {{pattern, shape.dtype, shape.hidden, shape.intermediate}, shape.tokens};
}

void FusionProfile::add(FusionPattern pattern, const FusionShape& shape,
                        const FusionAnswer& answer) {
  answers_[key_of(pattern, shape)] = answer;
}

std::optional<FusionAnswer> FusionProfile::between(const Key& key) const {
  const auto above = answers_.lower_bound(key);
  if (above == answers_.end() || above == answers_.begin()) return std::nullopt;
  const auto below = std::prev(above);
  if (above->first.first != key.first || below->first.first != key.first) return std::nullopt;
  const int64_t least = below->first.second;
  const int64_t most = above->first.second;
  if (most > kMostApart * least || below->second.fuse != above->second.fuse) return std::nullopt;
  const FusionAnswer& a = below->second;
  const FusionAnswer& b = above->second;
  return FusionAnswer{.fuse = a.fuse,
                      .ratio = std::sqrt(a.ratio * b.ratio),
                      .low = std::min(a.low, b.low),
                      .high = std::max(a.high, b.high),
                      .rounds = std::min(a.rounds, b.rounds),
                      .fused_kernels = a.fused_kernels,
                      .unfused_kernels = a.unfused_kernels,
                      .source = FusionSource::Between,
                      .note = fmt::format("{} and {} tokens", least, most)};
}

std::optional<FusionAnswer> FusionProfile::find(FusionPattern pattern,
                                                const FusionShape& shape) const {
  const Key key = key_of(pattern, shape);
  const auto exact = answers_.find(key);
  if (exact == answers_.end()) return between(key);
  FusionAnswer answer = exact->second;
  answer.source = FusionSource::Profile;
  answer.note = note_on(answer);
  return answer;
}

}  // namespace luminal
