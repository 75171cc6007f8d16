// Explanations as text for people, and as JSON.
#include "luminal/base/text/json_text.h"
#include "luminal/egraph/explain/explain.h"
#include "luminal/egraph/language/parser.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace luminal::egraph {
namespace {

// A term with more parts is written once and named; the chain may show longer ones.
constexpr size_t kMostParts = 12, kMostPartsInChain = 40;

class ExplanationWriter {
 public:
  ExplanationWriter(const Database& database, const Explanation& explanation)
      : database_(database),
        explanation_(explanation),
        forest_(unions(), explanation.terms.size()) {
    for (uint32_t i = 0; i < explanation.steps.size(); ++i) {
      const ProofStep& step = explanation.steps[i];
      if (step.kind == ProofStep::Kind::Fact) fact_steps_[step.fact] = i;
    }
  }

  std::string text() {
    most_parts_ = kMostPartsInChain;
    std::string body = print(explanation_.left) + "\n";
    for (const ProofLink& link : explanation_.chain) {
      const ProofStep& step = explanation_.steps[link.step];
      body += "  = " + print(link.reversed ? step.left : step.right) + "   by step " +
              std::to_string(link.step + 1) + ", " + short_cause(step) +
              (link.reversed ? ", read backwards" : "") + "\n";
    }
    most_parts_ = kMostParts;
    if (!explanation_.steps.empty()) body += "steps\n";
    for (size_t i = 0; i < explanation_.steps.size(); ++i) {
      body += "  " + std::to_string(i + 1) + ". " + line(explanation_.steps[i]) + "\n";
    }
    return body + definitions();
  }

  std::string json() const {
    base::JsonText out;
    constexpr auto kLine = base::JsonText::Layout::OnOneLine;
    out.begin_object();
    out.field("left", plain(explanation_.left, explanation_.sort));
    out.field("right", plain(explanation_.right, explanation_.sort));
    out.key("terms");
    out.begin_array();
    for (const ProofTerm& term : explanation_.terms) {
      out.begin_object(kLine);
      out.field("id", "#" + std::to_string(term.id.value));
      write_call(out, term.function, term.arguments);
      out.end_object();
    }
    out.end_array();
    out.key("steps");
    out.begin_array();
    for (const ProofStep& step : explanation_.steps) {
      out.begin_object(kLine);
      write(out, step);
      out.end_object();
    }
    out.end_array();
    out.key("chain");
    out.begin_array();
    for (const ProofLink& link : explanation_.chain) {
      out.begin_object(kLine);
      out.field("step", link.step + 1);
      out.field("reversed", link.reversed);
      out.end_object();
    }
    out.end_array();
    out.end_object();
    return out.text() + "\n";
  }

 private:
  // --- terms

  std::vector<ProofLog::Union> unions() {
    for (const ProofTerm& term : explanation_.terms) {
      numbers_.emplace(term.id.value, static_cast<uint32_t>(numbers_.size()));
      size_t parts = 1;
      const Function& function = database_.schema.function(term.function);
      for (size_t i = 0; i < term.arguments.size(); ++i) {
        parts += parts_of(term.arguments[i], function.inputs[i]);
      }
      parts_.push_back(std::min(parts, kMostPartsInChain + 1));
    }
    std::vector<ProofLog::Union> result;
    for (uint32_t i = 0; i < explanation_.steps.size(); ++i) {
      const ProofStep& step = explanation_.steps[i];
      if (step.kind == ProofStep::Kind::Fact) continue;
      result.push_back(
          {.a = numbers_.at(step.left.value), .b = numbers_.at(step.right.value), .cause = 0});
      union_steps_.push_back(i);
    }
    return result;
  }

  size_t parts_of(Value value, SortId sort) const {
    if (database_.is_equality(sort)) return parts_[numbers_.at(value.value)];
    size_t parts = 1;
    if (!database_.holds_ids(sort)) return parts;
    const Containers& containers = database_.constants.containers;
    for (size_t i = 0; const Value item : containers.items(sort, value)) {
      parts += parts_of(item, containers.item_sort(sort, i++));
    }
    return parts;
  }

  std::string print(Value id) {
    const uint32_t number = numbers_.at(id.value);
    if (parts_[number] <= most_parts_) return call(explanation_.terms[number]);
    const auto [name, is_new] = names_.emplace(number, names_.size() + 1);
    if (is_new) named_.push_back(number);
    return "t" + std::to_string(name->second);
  }

  std::string print(Value value, SortId sort) {
    if (database_.is_equality(sort)) return print(value);
    if (!database_.holds_ids(sort)) return database_.print(value, sort);
    const Containers& containers = database_.constants.containers;
    std::vector<std::string> items;
    for (const Value item : containers.items(sort, value)) {
      items.push_back(print(item, containers.item_sort(sort, items.size())));
    }
    return container_text(containers.shape(sort).kind, items);
  }

  std::string call(const ProofTerm& term) { return call(term.function, term.arguments); }
  std::string call(FunctionId id, const std::vector<Value>& arguments) {
    const Function& function = database_.schema.function(id);
    std::string text = "(" + function.name;
    for (size_t i = 0; i < arguments.size(); ++i) {
      text += " " + print(arguments[i], function.inputs[i]);
    }
    return text + ")";
  }

  // Definitions of long terms may introduce further names.
  std::string definitions() {
    std::string text = named_.empty() ? "" : "where\n";
    for (size_t i = 0; i < named_.size(); ++i) {
      const ProofTerm& term = explanation_.terms[named_[i]];
      text += "  t" + std::to_string(i + 1) + " = " + call(term) + "\n";
    }
    return text;
  }

  // --- steps

  static std::string short_cause(const ProofStep& step) {
    switch (step.cause) {
      case ProofStep::Cause::Command:
        return "a command";
      case ProofStep::Cause::Rule:
        return "rule '" + step.rule + "'";
      case ProofStep::Cause::Merge:
        return "a merge";
      case ProofStep::Cause::Law:
        return "congruence";
    }
    return "";
  }

  std::string line(const ProofStep& step) {
    std::string text;
    if (step.kind == ProofStep::Kind::Fact) {
      const Function& function = database_.schema.function(step.function);
      const bool is_term = function.kind == FunctionKind::Constructor;
      text = is_term ? print(step.value) : call(step.function, step.arguments);
      text += function.kind == FunctionKind::Function
                  ? " has value " + print(step.value, function.output)
              : function.kind == FunctionKind::Relation ? " holds"
                                                        : " is there";
    } else {
      text = print(step.left) + " = " + print(step.right);
    }
    if (step.cause == ProofStep::Cause::Law) return text + because(step);
    text += "   by " + short_cause(step);
    const char* separator = " with ";
    for (const ProofStep::Binding& binding : step.bindings) {
      if (binding.variable == kRewriteRoot) continue;
      text += separator + binding.variable + " := " + print(binding.value, binding.sort);
      separator = ", ";
    }
    std::set<uint32_t> from;
    for (const uint32_t fact : step.premises) from.insert(fact_steps_.at(fact) + 1);
    return text + list(", from ", from);
  }

  static std::string list(const std::string& before, const std::set<uint32_t>& steps) {
    std::string text;
    for (const uint32_t step : steps) {
      text += (text.empty() ? before + (steps.size() == 1 ? "step " : "steps ") : ", ") +
              std::to_string(step);
    }
    return text;
  }

  std::string because(const ProofStep& step) {
    const ProofTerm& left = explanation_.terms[numbers_.at(step.left.value)];
    const ProofTerm& right = explanation_.terms[numbers_.at(step.right.value)];
    const Function& function = database_.schema.function(step.function);
    std::string text;
    for (size_t i = 0; i < left.arguments.size(); ++i) {
      if (left.arguments[i] == right.arguments[i]) continue;
      const SortId sort = function.inputs[i];
      text += (text.empty() ? "   because " : " and ") + print(left.arguments[i], sort) + " = " +
              print(right.arguments[i], sort);
      if (!database_.is_equality(sort)) continue;
      std::set<uint32_t> steps;
      for (const auto& edge : forest_.path(numbers_.at(left.arguments[i].value),
                                           numbers_.at(right.arguments[i].value))) {
        steps.insert(union_steps_[edge.number] + 1);
      }
      text += list(" (", steps) + ")";
    }
    return text;
  }

  // --- JSON

  std::string plain(Value value, SortId sort) const { return database_.print(value, sort); }

  void write_call(base::JsonText& out, FunctionId id, const std::vector<Value>& arguments) const {
    const Function& function = database_.schema.function(id);
    out.field("function", function.name);
    out.key("arguments");
    out.begin_array();
    for (size_t i = 0; i < arguments.size(); ++i) {
      out.value(plain(arguments[i], function.inputs[i]));
    }
    out.end_array();
  }

  void write(base::JsonText& out, const ProofStep& step) const {
    if (step.kind == ProofStep::Kind::Fact) {
      const Function& function = database_.schema.function(step.function);
      out.field("kind", "fact");
      write_call(out, step.function, step.arguments);
      out.field("value", plain(step.value, function.output));
    } else {
      out.field("kind", step.kind == ProofStep::Kind::Union ? "union" : "congruence");
      out.field("left", plain(step.left, explanation_.sort));
      out.field("right", plain(step.right, explanation_.sort));
    }
    static constexpr const char* kCauses[] = {"command", "rule", "merge", "congruence"};
    out.field("cause", kCauses[static_cast<size_t>(step.cause)]);
    if (step.cause == ProofStep::Cause::Rule) {
      out.field("rule", step.rule);
      out.field("known_steps", step.known_steps);
      out.key("bindings");
      out.begin_object();
      for (const ProofStep::Binding& binding : step.bindings) {
        if (binding.variable == kRewriteRoot) continue;
        out.field(binding.variable, plain(binding.value, binding.sort));
      }
      out.end_object();
    }
    if (step.premises.empty()) return;
    out.key("premises");
    out.begin_array();
    for (const uint32_t fact : step.premises) out.value(fact_steps_.at(fact) + 1);
    out.end_array();
  }

  const Database& database_;
  const Explanation& explanation_;
  std::unordered_map<uint32_t, uint32_t> numbers_;  // of terms, by id
  std::vector<size_t> parts_;  // of each term, counted up to kMostPartsInChain + 1
  size_t most_parts_ = kMostParts;
  std::vector<uint32_t> union_steps_;
  UnionForest forest_;
  std::map<uint32_t, uint32_t> fact_steps_;
  std::unordered_map<uint32_t, size_t> names_;  // of long terms
  std::vector<uint32_t> named_;                 // in the order of their names
};

}  // namespace

std::string explanation_text(const Database& database, const Explanation& explanation) {
  return ExplanationWriter(database, explanation).text();
}

std::string explanation_json(const Database& database, const Explanation& explanation) {
  return ExplanationWriter(database, explanation).json();
}

}  // namespace luminal::egraph
