#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/base/text/line_reader.h"
#include "luminal/graph/text/text_lines.h"
#include "luminal/kernel/ir/kernel_text.h"
#include "luminal/kernel/plan/plan_text.h"
#include "luminal/kernel/recognise/work.h"

namespace luminal::kernel {
namespace {

using base::LineReader;

class PlanParser {
 public:
  PlanParser(std::string_view text, std::string_view source) : lines_(text, source) {}

  PlannedGraph parse() {
    LineReader header = lines_.next();
    header.expect("plan");
    if (header.integer() != 1) header.fail("this library reads version 1 of plans");
    while (!lines_.at_end()) {
      LineReader line = lines_.next();
      if (line.at_end() || line.next_is('#')) continue;
      try {
        read(line);
        line.expect_end();
      } catch (const UserError& error) {
        line.fail_with(error);
      }
    }
    return std::move(planned_);
  }

 private:
  TermGraph& terms() { return planned_.terms; }

  void read(LineReader& line) {
    const std::string_view word = line.word();
    if (word == "var") return scope_.variables.push_back(parse_variable(line));
    if (word == "source") return read_source(line);
    if (word == "class") return read_class(line);
    if (word == "term") return read_term(line);
    if (word == "nodes") return planned_.class_of.resize(count(line));
    if (word == "node") return read_node(line);
    if (word == "modelled") {
      planned_.plan.model_seconds = line.real();
    } else if (word == "host") {
      planned_.plan.steps.emplace_back(HostStep{source_id(line)});
    } else if (word == "step") {
      read_step(line);
    } else {
      line.fail(fmt::format("'{}' doesn't start any line of a plan", word));
    }
  }

  static size_t count(LineReader& line) {
    const int64_t number = line.integer();
    constexpr int64_t kMost = int64_t{1} << 30;
    if (number < 0 || number > kMost) line.fail("the number of nodes is out of range");
    return static_cast<size_t>(number);
  }

  void read_source(LineReader& line) {
    line.numbered("", terms().sources.size() + 1);
    Source source{.dims = {}, .dtype = DType::F32, .name = line.string()};
    line.expect("%");
    planned_.source_nodes.push_back(NodeId::at(line.integer()));
    line.expect(":");
    source.dtype = parse_dtype(line);
    source.dims = exprs(line, {});
    terms().sources.push_back(std::move(source));
  }

  void read_class(LineReader& line) {
    line.numbered("c", terms().classes.size() + 1);
    line.expect(":");
    TermClass value{.dims = {}, .dtype = parse_dtype(line), .terms = {}};
    value.dims = exprs(line, {});
    terms().classes.push_back(std::move(value));
  }

  ClassId class_id(LineReader& line) {
    return ClassId::at(line.numbered("c", terms().classes.size()));
  }
  SourceId source_id(LineReader& line) {
    return SourceId::at(line.numbered("", terms().sources.size()));
  }

  void read_term(LineReader& line) {
    TermClass& value = terms().classes[class_id(line).index()];
    const std::string_view word = line.word();
    value.terms.push_back(term(word, line, value));
  }

  Term term(std::string_view word, LineReader& line, const TermClass& value) {
    if (word == "load") return LoadTerm{source_id(line)};
    if (word == "constant") {
      return is_float(value.dtype) ? ConstTerm{.real = line.real()}
                                   : ConstTerm{.integer = line.integer()};
    }
    if (word == "iota") return IotaTerm{parse_expr(line.rest(), over(value.dims))};
    if (word == "reindex") {
      const ClassId operand = class_id(line);
      return ReindexTerm{IndexMap(value.dims, terms().at(operand).dims, exprs(line, value.dims)),
                         operand};
    }
    if (word == "reduce" || word == "scan") {
      const Reducer by = parse_reducer(line);
      const ClassId operand = class_id(line);
      if (word == "scan") return ScanTerm{by, operand};
      return ReduceTerm{by, operand};
    }
    if (word == "gather") {
      const ClassId data = class_id(line);
      return GatherTerm{data, class_id(line)};
    }
    if (word == "scatter") {
      std::optional<Reducer> combine;
      if (!line.next_is('c')) combine = parse_reducer(line);
      const ClassId dest = class_id(line);
      const ClassId index = class_id(line);
      return StoreAtTerm{combine, dest, index, class_id(line)};
    }
    const std::optional<Op> op = op_from_name(word);
    if (!op) line.fail(fmt::format("'{}' is not a term", word));
    OpTerm made{*op, {}};
    while (!line.at_end()) made.operands.push_back(class_id(line));
    return made;
  }

  void read_node(LineReader& line) {
    const int node = line.numbered("%", planned_.class_of.size());
    planned_.class_of[static_cast<size_t>(node)] = class_id(line);
  }

  void read_step(LineReader& line) {
    KernelStep step;
    line.expect("modelled");
    step.model_seconds = line.real();
    if (line.take("measured ")) {
      step.measured.seconds = line.real();
      step.measured.low = line.real();
      step.measured.high = line.real();
    }
    if (line.take("packs ")) step.packs = line.string();
    line.expect("strategy");
    const std::string_view strategy = line.word();
    const std::optional<Strategy> known = strategy_of(strategy);
    if (!known) line.fail(fmt::format("'{}' is not a strategy", strategy));
    step.strategy = *known;
    if (line.take("schedule ")) step.schedule = parse_schedule(line);
    const base::LineReader first = line;
    read_params(step.lowered);
    read_computed(step.lowered);
    step.lowered.kernel = parse_kernel(lines_);
    finish(step.lowered.kernel);
    if (!allows(step.lowered.kernel, step.strategy)) {
      first.fail(fmt::format("strategy {} doesn't suit this kernel", strategy));
    }
    planned_.plan.steps.emplace_back(std::move(step));
  }

  void read_params(LoweredKernel& lowered) {
    LineReader line = lines_.next();
    line.expect("params");
    while (!line.at_end()) {
      const SourceId source = line.take("-") ? SourceId() : source_id(line);
      line.expect("/");
      lowered.origins.push_back({source, class_id(line)});
    }
  }

  void read_computed(LoweredKernel& lowered) {
    LineReader line = lines_.next();
    line.expect("computes");
    while (!line.at_end()) lowered.classes.push_back(class_id(line));
  }

  ParseScope over(const Dims& extents) const {
    ParseScope scope = scope_;
    scope.extents = extents;
    return scope;
  }
  std::vector<Expr> exprs(LineReader& line, const Dims& extents) const {
    std::vector<Expr> made;
    for (const std::string_view item : line.list()) made.push_back(parse_expr(item, over(extents)));
    return made;
  }

  base::TextLines lines_;
  ParseScope scope_{.variables = {}, .extents = {}, .declared_only = true};
  PlannedGraph planned_;
};

}  // namespace

PlannedGraph parse_plan(std::string_view text, std::string_view source) {
  return PlanParser(text, source).parse();
}

}  // namespace luminal::kernel
