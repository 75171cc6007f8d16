#include "luminal/driver/fusion/should_fuse.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "luminal/driver/fusion/fusion_profile.h"
#include "luminal/driver/fusion/measure_fusion.h"

namespace luminal {
namespace {

// Measurements of this process, by conditions: plans, variants and explanations ask several times
// and must get the same answer.
class Remembered {
 public:
  std::optional<FusionAnswer> find(const FusionConditions& conditions, FusionPattern pattern,
                                   const FusionShape& shape) {
    const std::lock_guard lock(mutex_);
    const auto found = answers_.find(key_of(conditions, pattern, shape));
    if (found == answers_.end()) return std::nullopt;
    FusionAnswer answer = found->second;
    answer.source = FusionSource::Remembered;
    return answer;
  }
  void add(const FusionConditions& conditions, FusionPattern pattern, const FusionShape& shape,
           const FusionAnswer& answer) {
    const std::lock_guard lock(mutex_);
    answers_.emplace(key_of(conditions, pattern, shape), answer);
  }

  // Two measurements at once would disturb each other.
  std::mutex measuring;

 private:
  static std::string key_of(const FusionConditions& conditions, FusionPattern pattern,
                            const FusionShape& shape) {
    return fmt::format("{} {} {}: {} {}", conditions.device, conditions.compiler,
                       conditions.options, name(pattern), text(shape));
  }

  std::mutex mutex_;
  std::map<std::string, FusionAnswer> answers_;
};

Remembered& remembered() {
  static Remembered here;
  return here;
}

// The profile in the file, if there is one and its conditions match.
std::optional<FusionProfile> usable_profile(const std::string& file,
                                            const FusionConditions& conditions) {
  if (file.empty() || !std::filesystem::exists(file)) return {};
  FusionProfile profile = FusionProfile::read(file);
  if (!profile.conditions().differ_from(conditions).empty()) return {};
  return profile;
}

// A profile of other conditions is left unchanged.
void keep(const std::string& file, const FusionConditions& conditions, FusionPattern pattern,
          const FusionShape& shape, const FusionAnswer& answer) {
  if (file.empty()) return;
  std::optional<FusionProfile> profile = usable_profile(file, conditions);
  if (!profile && std::filesystem::exists(file)) return;
  if (!profile) profile.emplace(conditions);
  profile->add(pattern, shape, answer);
  profile->write(file);
}

}  // namespace

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
  }
  return "";
}

FusionAnswer should_fuse(FusionPattern pattern, const FusionShape& asked,
                         const CompileOptions& options, const FusionTiming& timing) {
  const FusionShape shape = measured_shape(pattern, asked);
  const FusionConditions conditions = fusion_conditions(options.backend, options.plan.numerics);
  const std::string& file = options.storage.fusion_profile;
  if (const auto profile = usable_profile(file, conditions)) {
    if (const auto answer = profile->find(pattern, shape)) return *answer;
  }
  if (const auto answer = remembered().find(conditions, pattern, shape)) return *answer;
  const std::lock_guard lock(remembered().measuring);
  if (const auto answer = remembered().find(conditions, pattern, shape)) return *answer;
  const FusionAnswer answer = measure_fusion(pattern, shape, options, timing);
  remembered().add(conditions, pattern, shape, answer);
  keep(file, conditions, pattern, shape, answer);
  return answer;
}

}  // namespace luminal
