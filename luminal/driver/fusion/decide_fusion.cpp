#include "luminal/driver/fusion/decide_fusion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "luminal/base/errors.h"
#include "luminal/driver/fusion/fusion_answers.h"
#include "luminal/graph/traverse.h"
#include "luminal/graph/verify.h"
#include "luminal/search/fusion/find_patterns.h"

namespace luminal {
namespace {

using search::PatternPlace;

void check_groups(const PlanOptions& options) {
  for (const auto& [group, policy] : options.fusion_groups) {
    if (fusion_pattern_from_name(group)) {
      if (policy != FusionPolicy::Fixed) continue;
      throw UserError(
          fmt::format("fusion: fixed is a policy of the whole graph; choose modelled, measured, "
                      "always or never for {}",
                      group));
    }
    if (group != kSideBySide) {
      throw UserError(fmt::format("fusion: there is no pattern '{}'; known: {}; and {}", group,
                                  fmt::join(fusion_pattern_names(), " and "), kSideBySide));
    }
    if (policy != FusionPolicy::Modelled && policy != FusionPolicy::Never) {
      throw UserError(
          fmt::format("fusion: the policy of {} is modelled or never; choose one", kSideBySide));
    }
  }
}

bool has_own_policies(const PlanOptions& options) {
  return std::ranges::any_of(kFusionPatterns, [&](FusionPattern pattern) {
    return options.fusion_groups.contains(std::string(name(pattern)));
  });
}

// Whether a pattern has a policy of its own, and which.
std::pair<bool, FusionPolicy> policy_for(FusionPattern pattern, const PlanOptions& options) {
  const auto own = options.fusion_groups.find(std::string(name(pattern)));
  if (own != options.fusion_groups.end()) return {true, own->second};
  return {options.fusion == FusionPolicy::Measured, options.fusion};
}

bool is_measured(const PlanOptions& options) {
  return std::ranges::any_of(kFusionPatterns, [&](FusionPattern pattern) {
    return policy_for(pattern, options).second == FusionPolicy::Measured;
  });
}

// What a report says about the profile: if something was measured that it doesn't hold, and else.
struct ProfileNotes {
  std::string measured;
  std::string answered = {};
};

// Asked before anything is measured, which may write the profile.
ProfileNotes notes_on_profile(const CompileOptions& options) {
  const std::string& file = options.storage.fusion_profile;
  if (file.empty()) {
    return {
        "no fusion profile is given: the effect of fusing is measured now; `luminal tune fusion` "
        "makes one"};
  }
  if (!std::filesystem::exists(file)) {
    return {fmt::format(
        "there is no fusion profile '{}' yet: the effect of fusing is measured now and saved there",
        file)};
  }
  const std::string differs = FusionProfile::read(file).conditions().differ_from(
      fusion_conditions(options.backend, options.plan.numerics));
  if (differs.empty()) return {};
  const std::string unused =
      fmt::format("the fusion profile '{}' is for {}: it is not used", file, differs);
  return {unused + ", and the effect of fusing is measured now", unused};
}

FusionReport report_of(const PatternPlace& place, const std::optional<FusionShape>& shape) {
  FusionReport entry;
  entry.pattern = name(place.pattern);
  entry.dtype = name(place.dtype);
  if (shape) {
    entry.tokens = shape->tokens;
    entry.hidden = shape->hidden;
    entry.intermediate = shape->intermediate;
  }
  return entry;
}

void decide_by_policy(FusionPolicy policy, FusionReport& entry) {
  switch (policy) {
    case FusionPolicy::Always:
      entry.decision = FusionReport::kFused;
      entry.source = "policy always";
      return;
    case FusionPolicy::Never:
      entry.decision = FusionReport::kStored;
      entry.source = "policy never";
      return;
    case FusionPolicy::Modelled:
    case FusionPolicy::Measured:
      entry.decision = FusionReport::kModelled;
      entry.source = "policy modelled";
      return;
    case FusionPolicy::Fixed:
      entry.decision = FusionReport::kByRules;
      entry.source = "policy fixed";
      return;
  }
}

bool was_measured(const FusionAnswer& answer) {
  return answer.source == FusionSource::Measured || answer.source == FusionSource::Remembered;
}

void decide_by_answer(const FusionAnswer& answer, FusionReport& entry) {
  entry.decision = answer.fuse ? FusionReport::kFused : FusionReport::kStored;
  entry.source = text(answer.source);
  entry.ratio = answer.ratio;
  entry.low = answer.low;
  entry.high = answer.high;
  entry.rounds = answer.rounds;
  entry.fused_kernels = answer.fused_kernels;
  entry.unfused_kernels = answer.unfused_kernels;
  entry.note = answer.note;
}

}  // namespace

FusionDecisions decide_fusion(const Graph& graph, const CompileOptions& options) {
  const PlanOptions& plan = options.plan;
  check_groups(plan);
  FusionDecisions result;
  const bool measured = is_measured(plan);
  if (!measured && !has_own_policies(plan) && !options.inspect.list_patterns) return result;
  const std::vector<PatternPlace> places = search::find_patterns(graph, roots(graph));
  const Bindings sizes = search::representative_sizes(variables(graph), plan.typical_sizes);
  ProfileNotes on_profile;
  if (measured && !places.empty()) on_profile = notes_on_profile(options);
  std::optional<FusionAnswers> answers;
  if (measured) answers.emplace(options);
  bool any_measured = false;
  // By pattern and shape, in order of first appearance.
  std::vector<std::pair<FusionPattern, std::optional<FusionShape>>> asked;
  for (const PatternPlace& place : places) {
    const std::optional<FusionShape> shape = search::shape_of(place, sizes);
    const auto question = std::make_pair(place.pattern, shape);
    const auto known = std::ranges::find(asked, question);
    const auto at = static_cast<size_t>(known - asked.begin());
    const auto [is_own, policy] = policy_for(place.pattern, plan);
    if (known == asked.end()) {
      asked.push_back(question);
      FusionReport entry = report_of(place, shape);
      if (policy != FusionPolicy::Measured) {
        decide_by_policy(policy, entry);
      } else if (!shape) {
        decide_by_policy(FusionPolicy::Modelled, entry);
        entry.note = "its sizes are unknown, so it can't be measured";
      } else {
        if (options.progress) options.progress({"fusion", static_cast<int>(at), 0});
        const FusionAnswer answer = answers->find(place.pattern, *shape);
        any_measured = any_measured || was_measured(answer);
        decide_by_answer(answer, entry);
      }
      result.reports.push_back(std::move(entry));
    }
    FusionReport& entry = result.reports[at];
    entry.places.push_back(graph.describe(place.at));
    if (!is_own || entry.decision == FusionReport::kModelled) continue;
    for (NodeId node : place.interior) {
      result.forces.push_back({node, entry.decision == FusionReport::kStored});
    }
  }
  std::ranges::sort(result.forces, {}, [](const search::FusionForce& force) {
    return std::pair(force.node, force.stored);
  });
  if (answers) result.notes = answers->notes();
  const std::string& note = any_measured ? on_profile.measured : on_profile.answered;
  if (!note.empty()) result.notes.insert(result.notes.begin(), note);
  return result;
}

void report_fusion(FusionDecisions decided, const std::string& variant, CompileReport& report) {
  for (FusionReport& entry : decided.reports) {
    entry.variant = variant;
    report.fusion.push_back(std::move(entry));
  }
  for (std::string& note : decided.notes) {
    const bool known =
        std::find(report.notes.begin(), report.notes.end(), note) != report.notes.end();
    if (!known) report.notes.push_back(std::move(note));
  }
}

bool merges_side_by_side(const PlanOptions& options) {
  const auto own = options.fusion_groups.find(kSideBySide);
  return own == options.fusion_groups.end() || own->second != FusionPolicy::Never;
}

std::vector<search::FusionForce> fusion_forces(const Graph& graph, const CompileOptions& options) {
  check_groups(options.plan);
  if (!is_measured(options.plan) && !has_own_policies(options.plan)) return {};
  return decide_fusion(graph, options).forces;
}

}  // namespace luminal
