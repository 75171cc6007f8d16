// Saturates the compiler's rules over Llama blocks: the case "llama-blocks" of the protocol in
// docs/bench-protocol.md, with the setting `blocks`. Answers have the sizes of all tables. `write`
// takes the run as a program without a host: its terms, the host's answers as tables, and the rules
// over them. Any egglog can replay it.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/bench/harness/bench_main.h"
#include "apps/bench/harness/prepared.h"
#include "luminal/base/text/sexpr.h"
#include "luminal/graph/traverse.h"
#include "luminal/rules/rules.h"
#include "luminal/search/terms/lower_graph.h"
#include "luminal/search/terms/saturate.h"
#include "luminal/search/terms/terms.h"
#include "luminal/version.h"
#include "tests/search/llama_blocks.h"

namespace luminal::search {
namespace {

using base::Sexpr;
using egraph::EGraph;
using egraph::FunctionId;
using egraph::PrimitiveId;
using egraph::Sort;
using egraph::SortId;
using egraph::SortKind;
using egraph::Value;

// What the host said, by primitive and arguments.
using HostCalls = std::map<PrimitiveId, std::map<std::vector<Value>, Value>>;

struct Run {
  Graph graph;
  Terms terms;
  explicit Run(int blocks) {
    add_llama_blocks(graph, blocks);
    lower_graph(graph, roots(graph), terms);
    terms.egraph.rebuild();
  }
  egraph::RunReport saturate() { return search::saturate(terms); }
};

// The program text of a run that hasn't been saturated yet.
class ReplayWriter {
 public:
  // The host's answers may hold strings that the start doesn't know yet.
  ReplayWriter(const EGraph& start, const EGraph& end) : egraph_(start), end_(end) {}

  std::string write(const HostCalls& calls) {
    for (const Sort& sort : egraph_.schema().sorts()) {
      if (sort.kind == SortKind::Equality) out_ += "(sort " + sort.name + ")\n";
    }
    read_forms();
    for (uint32_t f = 0; f < egraph_.schema().functions().size(); ++f) declare(FunctionId{f});
    for (const Sexpr& form : forms_) {
      if (form.is_call("function")) out_ += base::print(without_host_sorts(form)) + "\n";
    }
    for (PrimitiveId primitive : asked_) {
      const auto results = calls.find(primitive);
      write_table(primitive, results == calls.end() ? NoResults{} : results->second);
    }
    write_rules();
    write_terms();
    out_ += "(run-schedule (saturate";
    for (const std::string& ruleset : RuleSet().admitted({})) out_ += " " + ruleset;
    return out_ + "))\n";
  }

 private:
  using NoResults = std::map<std::vector<Value>, Value>;

  void read_forms() {
    for (const rules::RuleFile& file : rules::rule_files()) {
      for (Sexpr& form : base::read_sexprs(file.text, file.name)) forms_.push_back(std::move(form));
    }
    for (const Sexpr& form : forms_) {
      if (form.is_call("rule") || form.is_call("rewrite")) find_host_primitives(form);
    }
  }

  // A rule that never asked still needs its table.
  void find_host_primitives(const Sexpr& expr) {
    if (!expr.is_list() || expr.items.empty()) return;
    for (const Sexpr& item : expr.items) find_host_primitives(item);
    for (PrimitiveId id : egraph_.schema().find_primitives(expr.items[0].text)) {
      if (egraph_.schema().primitive(id).host) asked_.insert(id);
    }
  }

  Sexpr without_host_sorts(Sexpr form) const {
    for (Sexpr& item : form.items) item = without_host_sorts(std::move(item));
    if (!form.is_atom()) return form;
    const std::optional<SortId> sort = egraph_.schema().find_sort(form.text);
    if (sort && egraph_.schema().sort(*sort).kind == SortKind::Host) form.text = "i64";
    return form;
  }

  // A host's value is its number.
  std::string name_of(SortId sort) const {
    const Sort& declared = egraph_.schema().sort(sort);
    return declared.kind == SortKind::Host ? "i64" : declared.name;
  }
  std::string names_of(const std::vector<SortId>& sorts) const {
    std::string names;
    for (SortId sort : sorts) names += (names.empty() ? "" : " ") + name_of(sort);
    return names;
  }

  void declare(FunctionId id) {
    const egraph::Function& function = egraph_.schema().function(id);
    if (function.kind != egraph::FunctionKind::Constructor) return;
    out_ += "(constructor " + function.name + " (" + names_of(function.inputs) + ") " +
            name_of(function.output) + ")\n";
  }

  std::string text_of(Value value, SortId sort) const {
    const Sort& declared = egraph_.schema().sort(sort);
    if (declared.kind == SortKind::Host) return std::to_string(value.value);
    if (declared.kind == SortKind::Equality) return "$n" + std::to_string(value.value);
    return end_.print(value, sort);
  }

  void write_table(PrimitiveId id, const std::map<std::vector<Value>, Value>& results) {
    const egraph::Primitive& primitive = egraph_.schema().primitive(id);
    host_primitives_.insert(primitive.name);
    out_ += "(function " + primitive.name + " (" + names_of(primitive.inputs) + ") " +
            name_of(primitive.output) + " :no-merge)\n";
    for (const auto& [arguments, result] : results) {
      out_ += "(set (" + primitive.name;
      for (size_t i = 0; i < arguments.size(); ++i) {
        out_ += " " + text_of(arguments[i], primitive.inputs[i]);
      }
      out_ += ") " + text_of(result, primitive.output) + ")\n";
    }
  }

  void write_rules() {
    for (Sexpr form : forms_) {
      if (form.is_call("ruleset")) out_ += base::print(form) + "\n";
      if (form.is_call("rewrite")) write_rewrite(form);
      if (form.is_call("rule")) write_rule(form);
    }
  }

  void write_rule(Sexpr& form) {
    size_t fresh = 0;
    std::vector<Sexpr> facts;
    move_host_calls(form.items[2], facts, fresh);
    std::vector<Sexpr>& given = form.items[1].items;
    given.insert(given.end(), facts.begin(), facts.end());
    std::vector<Sexpr> rule(form.items.begin(), form.items.begin() + 3);
    for (size_t i = 3; i + 1 < form.items.size(); i += 2) {
      if (form.items[i].is_atom(":name")) continue;  // which not every egglog takes
      rule.push_back(form.items[i]);
      rule.push_back(form.items[i + 1]);
    }
    out_ += base::print(base::make_list(std::move(rule))) + "\n";
  }

  // A table can't be looked up in an action, so what the right side asks the host goes to :when.
  void write_rewrite(Sexpr& form) {
    std::vector<Sexpr> facts;
    size_t fresh = 0;
    move_host_calls(form.items[2], facts, fresh);
    std::vector<Sexpr> options(form.items.begin() + 3, form.items.end());
    std::vector<Sexpr> rewrite(form.items.begin(), form.items.begin() + 3);
    for (size_t i = 0; i + 1 < options.size(); i += 2) {
      if (options[i].is_atom(":when")) {
        const std::vector<Sexpr>& given = options[i + 1].items;
        facts.insert(facts.begin(), given.begin(), given.end());
      } else if (!options[i].is_atom(":name")) {  // which not every egglog takes
        rewrite.push_back(options[i]);
        rewrite.push_back(options[i + 1]);
      }
    }
    if (!facts.empty()) {
      rewrite.push_back(base::make_atom(":when"));
      rewrite.push_back(base::make_list(std::move(facts)));
    }
    out_ += base::print(base::make_list(std::move(rewrite))) + "\n";
  }

  void move_host_calls(Sexpr& expr, std::vector<Sexpr>& facts, size_t& fresh) {
    if (!expr.is_list() || expr.items.empty()) return;
    for (Sexpr& item : expr.items) move_host_calls(item, facts, fresh);
    if (!host_primitives_.contains(expr.items[0].text)) return;
    Sexpr variable = base::make_atom("host" + std::to_string(fresh++));
    facts.push_back(base::make_list({base::make_atom("="), variable, std::move(expr)}));
    expr = std::move(variable);
  }

  // Nothing is united yet: each class is one row, and parts have lesser ids. Facts come last.
  void write_terms() {
    std::map<uint32_t, std::string> terms;
    std::string facts;
    for (uint32_t f = 0; f < egraph_.schema().functions().size(); ++f) {
      const egraph::Function& function = egraph_.schema().function(FunctionId{f});
      egraph_.for_each_row(FunctionId{f},
                           [&](std::span<const Value> arguments, Value value, egraph::RuleId) {
                             std::string call = "(" + function.name;
                             for (size_t i = 0; i < arguments.size(); ++i) {
                               call += " " + text_of(arguments[i], function.inputs[i]);
                             }
                             call += ")";
                             const std::string result = text_of(value, function.output);
                             if (function.kind == egraph::FunctionKind::Constructor) {
                               terms[value.value] = "(let " + result + " " + call + ")\n";
                             } else {
                               facts += "(set " + call + " " + result + ")\n";
                             }
                           });
    }
    for (const auto& [id, text] : terms) out_ += text;
    out_ += facts;
  }

  const EGraph& egraph_;
  const EGraph& end_;
  std::vector<Sexpr> forms_;     // of the rule files
  std::set<PrimitiveId> asked_;  // host primitives that rules name
  std::set<std::string> host_primitives_;
  std::string out_;
};

std::string replay_text(int blocks) {
  Run run(blocks);
  const EGraph start = run.terms.egraph;  // before anything is saturated
  HostCalls calls;
  run.terms.egraph.watch_host_primitives(
      [&](PrimitiveId primitive, std::span<const Value> arguments, std::optional<Value> result) {
        std::map<std::vector<Value>, Value>& results = calls[primitive];  // also without any
        if (result) results.emplace(std::vector(arguments.begin(), arguments.end()), *result);
      });
  run.saturate();
  return ReplayWriter(start, run.terms.egraph).write(calls);
}

class Saturation : public bench::Prepared {
 public:
  explicit Saturation(int blocks) : blocks_(blocks) {}

  double run() override {
    Run run(blocks_);
    const auto start = std::chrono::steady_clock::now();
    run.saturate();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    const EGraph& egraph = run.terms.egraph;
    for (uint32_t f = 0; f < egraph.schema().functions().size(); ++f) {
      sizes_[egraph.schema().function(FunctionId{f}).name] = egraph.size(FunctionId{f});
    }
    return taken.count();
  }
  void add_facts(bench::Json& answer) override { answer["sizes"] = sizes_; }
  void write_result(const std::string& path) override {
    std::ofstream file(path);
    file << replay_text(blocks_);
    if (!file.flush()) throw UserError("can't write " + path);
  }

 private:
  int blocks_;
  bench::Json sizes_ = bench::Json::object();
};

}  // namespace
}  // namespace luminal::search

int main(int argc, char** argv) {
  using namespace luminal;
  return bench::bench_main(
      {.name = "luminal",
       .version = LUMINAL_VERSION,
       .cases = {"llama-blocks"},
       .settings = {{"blocks", 12}},
       .answer = bench::answer_by_runs([](const std::string&, const bench::Json& settings) {
         return std::make_unique<search::Saturation>(settings.at("blocks"));
       })},
      argc, argv);
}
