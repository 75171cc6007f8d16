#include "luminal/driver/fusion/fusion_answers.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "luminal/driver/fusion/measure_fusion.h"

namespace luminal {
namespace {

// Answers of this process, by conditions: plans, variants and explanations ask several times and
// must get the same answer, whatever other processes record meanwhile.
class Remembered {
 public:
  std::optional<FusionAnswer> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = answers_.find(key);
    if (found == answers_.end()) return std::nullopt;
    FusionAnswer answer = found->second;
    if (answer.source == FusionSource::Measured) answer.source = FusionSource::Remembered;
    return answer;
  }
  void add(const std::string& key, const FusionAnswer& answer) {
    const std::lock_guard lock(mutex_);
    answers_.emplace(key, answer);
  }

  // Two measurements at once would disturb each other.
  std::mutex measuring;

 private:
  std::mutex mutex_;
  std::map<std::string, FusionAnswer> answers_;
};

Remembered& remembered() {
  static Remembered here;
  return here;
}

std::string key_of(const FusionConditions& conditions, const std::string& records,
                   FusionPattern pattern, const FusionShape& shape) {
  return fmt::format("{} {} {} {}: {} {}", conditions.device, conditions.compiler,
                     conditions.options, records, name(pattern), text(shape));
}

}  // namespace

FusionAnswers::FusionAnswers(const CompileOptions& options)
    : options_(options), conditions_(fusion_conditions(options.backend, options.plan.numerics)) {}

std::vector<std::string> FusionAnswers::notes() const {
  return records_ ? records_->notes() : std::vector<std::string>();
}

// The profile of the options, if there is one and its conditions match.
std::optional<FusionProfile> FusionAnswers::usable_profile() const {
  const std::string& file = options_.storage.fusion_profile;
  if (file.empty() || !std::filesystem::exists(file)) return {};
  FusionProfile profile = FusionProfile::read(file);
  if (!profile.conditions().differ_from(conditions_).empty()) return {};
  return profile;
}

// A profile of other conditions is left unchanged.
void FusionAnswers::keep_in_profile(FusionPattern pattern, const FusionShape& shape,
                                    const FusionAnswer& answer) {
  const std::string& file = options_.storage.fusion_profile;
  if (file.empty()) return;
  std::optional<FusionProfile> profile = usable_profile();
  if (!profile && std::filesystem::exists(file)) return;
  if (!profile) profile.emplace(conditions_);
  profile->add(pattern, shape, answer);
  profile->write(file);
}

FusionAnswer FusionAnswers::recorded_or_measured(FusionPattern pattern, const FusionShape& shape,
                                                 const FusionTiming& timing) {
  if (!records_) records_.emplace(options_);
  std::optional<FusionAnswer> answer = records_->find(pattern, shape);
  if (answer && answer->source == FusionSource::Between) return *answer;
  if (!answer) {
    answer = measure_fusion(pattern, shape, options_, timing);
    records_->put(pattern, shape, *answer);
  }
  keep_in_profile(pattern, shape, *answer);
  return *answer;
}

FusionAnswer FusionAnswers::find(FusionPattern pattern, const FusionShape& asked,
                                 const FusionTiming& timing) {
  const FusionShape shape = measured_shape(pattern, asked);
  if (const auto profile = usable_profile()) {
    if (const auto answer = profile->find(pattern, shape)) return *answer;
  }
  const std::string key = key_of(conditions_, options_.storage.records, pattern, shape);
  if (const auto answer = remembered().find(key)) return *answer;
  const std::lock_guard lock(remembered().measuring);
  if (const auto answer = remembered().find(key)) return *answer;
  const FusionAnswer answer = recorded_or_measured(pattern, shape, timing);
  remembered().add(key, answer);
  return answer;
}

}  // namespace luminal
