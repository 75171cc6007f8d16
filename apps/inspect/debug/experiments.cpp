#include "apps/inspect/debug/experiments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "luminal/graph/custom_op.h"
#include "luminal/graph/traverse.h"
#include "luminal/rule_testing/test_rules.h"

namespace luminal::debug {
namespace {

// The sign of NaN means nothing.
std::string number_text(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{:.9g}", value);
}

class Experiments {
 public:
  Experiments(const Subject& subject, const Trial& trial, const StepFault& fault, DebugStage& stage)
      : subject_(subject),
        trial_(trial),
        fault_(fault),
        note_(trial.notes().steps[fault.step]),
        stage_(stage) {}

  void run() {
    switch (fault_.kind) {
      case StepFault::Kind::WritesOutside:
        cause("writes-outside",
              "look at the bounds of its loops, and at how it handles the remainder");
        return;
      case StepFault::Kind::OwnKernel:
        cause("custom-kernel-disagrees", "the op's kernel and its compute must do the same");
        return;
      case StepFault::Kind::Code:
        return code();
      case StepFault::Kind::Terms:
        return terms();
    }
  }

 private:
  // Where the difference is, and how large.
  Finding& cause(const std::string& name, const std::string& way_out,
                 const std::string& evidence = {}) {
    Finding& found = stage_.blame(name);
    found.add("kernel", note_.name);
    if (fault_.node.valid()) found.add("op", subject_.graph->describe(fault_.node));
    found.add("ops", note_.ops).add("rules", note_.rules);
    if (fault_.wrong) {
      const WrongElements& wrong = *fault_.wrong;
      found.add("element", element_text(wrong.first, wrong.dims))
          .add("found", number_text(wrong.found))
          .add("expected", number_text(wrong.expected));
    }
    found.add("why", fault_.detail).add("evidence", evidence);
    return found.add("way_out", way_out);
  }

  // ---- Code that doesn't do what its loops say ----------------------------------------------

  bool from_cache() const {
    size_t kernel = 0;
    const kernel::Plan& plan = trial_.planned().plan;
    for (kernel::StepId s : plan.step_ids()) {
      if (s < fault_.step) kernel += std::holds_alternative<kernel::KernelStep>(plan.at(s));
    }
    return trial_.report().kernels[kernel].from_cache;
  }

  void code() {
    if (!note_.library.empty()) {
      cause("library-disagrees", "compile with --library never", "computed by " + note_.library);
      return;
    }
    if (from_cache()) {
      Subject anew = subject_;
      anew.options.storage.cache_folder = "none";
      if (!outcome_of(anew).wrong) {
        cause("stale-cache",
              "luminal cache clear; if it happens again, the cache key lacks something that the "
              "code depends on",
              "its code came from the cache, and compiled again it is right");
        return;
      }
    }
    if (lie_in_tail(*fault_.wrong)) {
      cause("wrong-tail", "look at how loops handle the remainder after the last full vector",
            "only elements after the last full vector are wrong");
      return;
    }
    if (fault_.wrong->untouched) {
      cause("never-written", "look at the bounds of its loops",
            "the wrong elements were never written");
      return;
    }
    const std::string op = op_alone();
    Finding& found = cause("wrong-code", "look at the emitter of that op",
                           op.empty() ? "each op in a kernel of its own is right"
                                      : "with a kernel for each op, the first wrong one is " + op);
    if (!op.empty() && found.at("op").empty()) found.add("op", op);
  }

  // Compiles one kernel per op; returns the op whose kernel is wrong first.
  std::string op_alone() const {
    Subject apart = subject_;
    apart.options.plan.fusion = FusionPolicy::Never;
    const Outcome outcome = outcome_of(apart);
    return outcome.fault ? fmt::format("{}", fmt::join(outcome.ops, ", ")) : "";
  }

  // ---- Loops that don't compute what the graph says ------------------------------------------

  bool is_right(const std::function<void(Subject&)>& change, const TrialOptions& options = {}) {
    Subject other = subject_;
    change(other);
    return !outcome_of(other, options).wrong;
  }

  void terms() {
    if (is_right([](Subject& other) { other.options.plan.rolling = Rolling::Off; })) {
      cause("rolled-disagrees", "look at what its parameters stand for in that iteration",
            "with --rolling off it is right");
      return;
    }
    if (blame_rule()) return;
    if (is_right([](Subject&) {}, {.packing = false})) {
      cause("wrong-panels", "look at how weights are packed into panels",
            "with unpacked weights it is right");
      return;
    }
    const bool alone = is_right([](Subject& o) { o.options.plan.fusion = FusionPolicy::Never; });
    cause(
        "wrong-lowering", "look at how its terms became loops",
        alone ? "with a kernel for each op it is right" : "with a kernel for each op it is wrong");
  }

  // Tries the rule groups behind the kernel's terms; added rules first.
  bool blame_rule() {
    const search::RuleSet rules(inspect_options(subject_).rules);
    for (const bool embedded : {false, true}) {
      std::set<std::string> tried;
      for (const search::RuleInfo& rule : rules.rules()) {
        const bool behind =
            !embedded || std::ranges::find(note_.rules, rule.name) != note_.rules.end();
        if (rule.is_embedded() != embedded || !behind || rule.group == search::RuleSet::kFacts) {
          continue;
        }
        if (!tried.insert(rule.group).second) continue;
        const bool right = is_right(
            [&](Subject& other) { other.options.plan.disable_rules.push_back(rule.group); });
        if (!right) continue;
        blame_in_group(rules, rule.group, embedded);
        return true;
      }
    }
    return false;
  }

  // Within a group without which the fault disappears: the rule that fails its test, else the first
  // behind the kernel's terms.
  void blame_in_group(const search::RuleSet& rules, const std::string& group, bool embedded) {
    std::string first, wrong, why;
    for (const search::RuleInfo& rule : rules.rules()) {
      if (rule.group != group || rule.is_embedded() != embedded) continue;
      const bool behind = std::ranges::find(note_.rules, rule.name) != note_.rules.end();
      if (first.empty() || behind) first = rule.name;
      const rule_testing::RuleTestResult result = rule_testing::test_rule(rules, rule);
      if (result.why.empty() || result.fired == 0) continue;
      wrong = rule.name;
      why = result.why;
      break;
    }
    std::string evidence = fmt::format("without the group '{}' it is right", group);
    if (!why.empty()) evidence += fmt::format("; its own test fails: {}", why);
    cause("wrong-rule", "correct the equality that the rule states", evidence)
        .add("rule", wrong.empty() ? first : wrong);
  }

  const Subject& subject_;
  const Trial& trial_;
  const StepFault& fault_;
  const StepNote& note_;
  DebugStage& stage_;
};

}  // namespace

void blame_kernel(const Subject& subject, const Trial& trial, const StepFault& fault,
                  DebugStage& stage) {
  Experiments(subject, trial, fault, stage).run();
}

}  // namespace luminal::debug
