#include "luminal/search/inspect/answers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "luminal/base/errors.h"
#include "luminal/graph/traverse.h"
#include "luminal/search/inspect/diagnose.h"
#include "luminal/search/inspect/why_off.h"

namespace luminal::search {
namespace {

constexpr const char* kKernel = "CpuKernel";
constexpr const char* kHost = "HostStep";

// "less_than" for LessThan, less_than and lessthan.
std::optional<Op> op_called(const std::string& text) {
  const auto plain = [](std::string_view word) {
    std::string out;
    for (char c : word) {
      if (c != '_') out += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    return out;
  };
  for (Op op : all_ops()) {
    if (plain(name(op)) == plain(text)) return op;
  }
  return std::nullopt;
}

// The kernels of the plan that compute a class, as "kernel 3".
std::vector<std::string> kernels_with(const Inspection& inspection, NodeId node) {
  std::vector<std::string> kernels;
  if (inspection.plan() == nullptr) return kernels;
  const kernel::ClassId value = inspection.extracted()->class_of[node.index()];
  int number = 0;
  for (const auto& step : inspection.plan()->plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr) continue;
    const auto& classes = kernel->lowered.classes;
    if (std::binary_search(classes.begin(), classes.end(), value)) {
      const std::vector<kernel::ClassId> stored = kernel::stored_by(kernel->lowered);
      const bool stores = std::find(stored.begin(), stored.end(), value) != stored.end();
      kernels.push_back(fmt::format("kernel {}{}", number, stores ? ", which stores it" : ""));
    }
    ++number;
  }
  return kernels;
}

// Looks at the plan, if there is one: rules may have replaced a host step.
bool is_host_step(const Inspection& inspection, NodeId node) {
  const auto& sources = inspection.lowered().sources;
  for (kernel::SourceId s : sources.ids()) {
    if (sources[s].node != node || !sources[s].host_step) continue;
    if (inspection.plan() == nullptr) return true;
    const auto& steps = inspection.plan()->plan.steps;
    return std::any_of(steps.begin(), steps.end(), [&](const auto& step) {
      const auto* host = std::get_if<kernel::HostStep>(&step);
      return host != nullptr && host->source == s;
    });
  }
  return false;
}

// How the node is computed, and the reason if it isn't by a kernel.
std::pair<std::string, std::string> fate(Inspection& inspection, NodeId node) {
  const Op op = inspection.graph().node(node).op;
  const ClassFact* fact = inspection.facts().of(node);
  if (fact == nullptr) return {"nothing", "no output needs it"};
  if (op == Op::Input) return {"Source", ""};
  if (is_host_step(inspection, node)) {
    return {kHost, fmt::format("no kernel computes {} yet", name(op))};
  }
  if (!inspection.failed_stage().empty()) {
    const std::vector<Finding> causes = diagnose(inspection);
    return {"nothing", causes.empty() ? inspection.error() : summary(causes)};
  }
  if (!kernels_with(inspection, node).empty()) return {kKernel, ""};
  if (op == Op::View) return {"index", "a view is how a kernel reads what is below it"};
  return {"nothing", "its value is computed by other terms, or not needed"};
}

Finding class_of(Inspection& inspection, NodeId node) {
  const Graph& graph = inspection.graph();
  const Node& what = graph.node(node);
  Finding found;
  found.add("node", graph.describe(node))
      .add("type", fmt::format("{}{}", name(what.dtype), text(what.dims)));
  const ClassFact* fact = inspection.facts().of(node);
  if (fact == nullptr) return found;
  found.add("class", fmt::format("#{}", fact->id.value));
  std::vector<std::string> terms;
  for (const egraph::Node& term : inspection.facts().snapshot().nodes_of(fact->id)) {
    const std::string& rule = inspection.terms().egraph.rule_name(term.origin);
    std::string why;
    const bool usable = inspection.facts().is_usable(term, &why);
    terms.push_back(inspection.facts().text(term) +
                    (term.origin == egraph::kInitial ? "" : " by rule '" + rule + "'") +
                    (usable ? "" : ": " + why));
  }
  found.add("terms", terms).add("rules", inspection.facts().rules(fact->id));
  return found;
}

}  // namespace

std::vector<Finding> inspect_op(Inspection& inspection, const std::string& question) {
  const size_t colon = question.find(':');
  const std::optional<Op> op = op_called(question.substr(0, colon));
  const std::string asked = colon == std::string::npos ? "" : question.substr(colon + 1);
  if (!op) {
    std::vector<std::string_view> names;
    for (Op known : all_ops()) names.push_back(name(known));
    throw UserError(fmt::format("there is no op '{}'; known: {}", question.substr(0, colon),
                                fmt::join(names, ", ")));
  }
  if (!asked.empty() && asked != kKernel && asked != kHost) {
    throw UserError(fmt::format("an op becomes a {} or a {}, not a '{}'", kKernel, kHost, asked));
  }
  std::vector<Finding> findings;
  for (uint32_t id = 0; id < inspection.graph().size(); ++id) {
    if (inspection.graph().node(NodeId{id}).op != *op) continue;
    Finding found = class_of(inspection, NodeId{id});
    const auto [became, why] = fate(inspection, NodeId{id});
    found.add("became", became);
    if (became != asked) found.add("why", why);
    found.add("kernels", kernels_with(inspection, NodeId{id}));
    findings.push_back(std::move(found));
  }
  return findings;
}

Finding inspect_tensor(Inspection& inspection, NodeId node) {
  Finding found = class_of(inspection, node);
  std::vector<std::string> users;
  const std::vector<std::vector<NodeId>> readers = consumers(inspection.graph());
  for (NodeId user : readers[node.index()]) {
    users.push_back(inspection.graph().describe(user));
  }
  for (const Output& output : inspection.graph().outputs()) {
    if (output.node == node) users.push_back("output '" + output.name + "'");
  }
  const auto [became, why] = fate(inspection, node);
  found.add("users", users).add("became", became).add("why", why);
  return found.add("kernels", kernels_with(inspection, node));
}

std::vector<Finding> trace_function(Inspection& inspection, const std::string& function,
                                    NodeId node) {
  egraph::EGraph& egraph = inspection.terms().egraph;
  const egraph::FunctionId id = egraph.function(function);
  const egraph::Function& schema = egraph.schema().function(id);
  const egraph::Value start = inspection.lowered().value_of[node.index()];
  if (!start.valid()) return {};
  const egraph::Value value = egraph.find(start);
  const egraph::SortId sort = egraph.sort("Value");
  std::vector<Finding> rows;
  egraph.for_each_row(id, [&](std::span<const egraph::Value> arguments, egraph::Value result,
                              egraph::RuleId origin) {
    bool mentions = schema.output == sort && egraph.find(result) == value;
    std::string call = "(" + function;
    for (size_t k = 0; k < arguments.size(); ++k) {
      mentions |= schema.inputs[k] == sort && egraph.find(arguments[k]) == value;
      call += " " + egraph.print(arguments[k], schema.inputs[k]);
    }
    if (!mentions) return;
    rows.push_back(Finding{}
                       .add("row", call + ")")
                       .add("value", egraph.print(result, schema.output))
                       .add("by", egraph.rule_name(origin)));
  });
  return rows;
}

std::vector<Finding> missing_dtypes(Inspection& inspection) {
  std::vector<Finding> findings;
  const ClassFacts& facts = inspection.facts();
  for (const ClassFact& fact : facts.classes()) {
    if (fact.type) continue;
    std::vector<std::string> terms;
    for (const egraph::Node& term : facts.snapshot().nodes_of(fact.id)) {
      std::string why;
      facts.is_usable(term, &why);
      terms.push_back(facts.text(term) + (why.empty() ? "" : ": " + why));
    }
    const std::optional<NodeId> node = facts.node_of(fact.id);
    findings.push_back(Finding{}
                           .add("class", fmt::format("#{}", fact.id.value))
                           .add("node", node ? inspection.graph().describe(*node) : "")
                           .add("terms", terms)
                           .add("rules", facts.rules(fact.id)));
  }
  return findings;
}

Finding explain_why_not(Inspection& inspection, const std::string& rule, NodeId node) {
  egraph::EGraph& egraph = inspection.terms().egraph;
  const std::optional<egraph::RuleId> id = egraph.find_rule(rule);
  const RuleInfo* info = inspection.rules().find(rule);
  if (!id) {
    std::vector<std::string> names;
    for (const RuleInfo& known : inspection.rules().rules()) names.push_back(known.name);
    throw UserError(fmt::format("there is no rule '{}'; known: {}", rule, fmt::join(names, ", ")));
  }
  const egraph::Value value = inspection.lowered().value_of[node.index()];
  if (!value.valid()) {
    throw UserError(inspection.graph().describe(node) + " isn't needed by any output");
  }
  const egraph::WhyNot why = egraph.why_not(*id, egraph.find(value), egraph.sort("Value"));
  const char* outcome = "";
  switch (why.outcome) {
    case egraph::WhyNot::Outcome::Matches:
      outcome = "matches";
      break;
    case egraph::WhyNot::Outcome::MissingFact:
      outcome = "missing-fact";
      break;
    case egraph::WhyNot::Outcome::FailedGuard:
      outcome = "failed-guard";
      break;
    case egraph::WhyNot::Outcome::NothingFits:
    case egraph::WhyNot::Outcome::NoTerm:
      outcome = "nothing-fits";
      break;
  }
  Finding found;
  found.add("rule", rule)
      .add("from", info != nullptr && !info->is_embedded() ? info->place() : "")
      .add("at", inspection.graph().describe(node))
      .add("outcome", std::string(outcome))
      .add("found", why.found)
      .add("subject", why.subject)
      .add("why", why.detail)
      .add("instead", why.instead);
  return found.add("off", info != nullptr ? why_off(*info, inspection.options().admission) : "");
}

}  // namespace luminal::search
