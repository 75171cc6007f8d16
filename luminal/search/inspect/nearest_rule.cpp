#include "luminal/search/inspect/nearest_rule.h"

#include <tuple>

namespace luminal::search {
namespace {

using Outcome = egraph::WhyNot::Outcome;

int rank(Outcome outcome) {
  switch (outcome) {
    case Outcome::Matches:
      return 3;
    case Outcome::FailedGuard:
      return 2;
    case Outcome::MissingFact:
      return 1;
    case Outcome::NothingFits:
    case Outcome::NoTerm:
      return 0;
  }
  return 0;
}

bool nearer(const egraph::WhyNot& a, const egraph::WhyNot& b) {
  return std::make_tuple(rank(a.outcome), a.found.size()) >
         std::make_tuple(rank(b.outcome), b.found.size());
}

}  // namespace

std::optional<NearestRule> nearest_rule(Inspection& inspection, egraph::Value value,
                                        const std::string& except) {
  egraph::EGraph& egraph = inspection.terms().egraph;
  std::optional<NearestRule> best;
  for (const RuleInfo& rule : inspection.rules().rules()) {
    const std::optional<egraph::RuleId> id = egraph.find_rule(rule.name);
    if (!id || rule.name == except) continue;
    egraph::WhyNot why = egraph.why_not(*id, value, egraph.sort("Value"));
    const bool begins = why.outcome == Outcome::FailedGuard ||
                        (why.outcome == Outcome::MissingFact && !why.found.empty());
    if (begins && (!best || nearer(why, best->why))) best = NearestRule{std::move(why), {}};
  }
  return best;
}

std::optional<NearestRule> nearest_place(Inspection& inspection, egraph::RuleId rule) {
  egraph::EGraph& egraph = inspection.terms().egraph;
  const auto& values = inspection.lowered().value_of;
  std::optional<NearestRule> best;
  for (uint32_t node = 0; node < values.size(); ++node) {
    if (!values[node].valid()) continue;
    egraph::WhyNot why = egraph.why_not(rule, egraph.find(values[node]), egraph.sort("Value"));
    if (!best || nearer(why, best->why)) best = NearestRule{std::move(why), NodeId{node}};
  }
  return best;
}

}  // namespace luminal::search
