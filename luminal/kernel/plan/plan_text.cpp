#include "luminal/kernel/plan/plan_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/text/line_reader.h"
#include "luminal/graph/text/text_lines.h"
#include "luminal/kernel/lower/term_text.h"

namespace luminal::kernel {
namespace {

std::string class_name(ClassId id) { return fmt::format("c{}", id.value); }

std::string type_text(DType dtype, const Dims& dims) {
  return fmt::format("{}{}", name(dtype), luminal::text(dims));
}

std::string step_text(const KernelStep& step) {
  std::string out = fmt::format("step modelled {}", step.model_seconds);
  const MeasuredTime& measured = step.measured;
  if (measured.seconds > 0) {
    out += fmt::format(" measured {} {} {}", measured.seconds, measured.low, measured.high);
  }
  if (!step.packs.empty()) out += " packs " + base::quoted(step.packs);
  out += fmt::format(" strategy {}", text(step.strategy));
  if (!step.schedule.empty()) out += " schedule " + text(step.schedule);
  out += "\nparams";
  for (const ParamOrigin& origin : step.lowered.origins) {
    out += " " + (origin.source.valid() ? std::to_string(origin.source.value) : "-") + "/" +
           class_name(origin.value);
  }
  out += "\ncomputes";
  for (ClassId id : step.lowered.classes) out += " " + class_name(id);
  return out + "\n" + text(step.lowered.kernel);
}

// The variables of dims, maps and iotas; a kernel's text declares its own again.
std::vector<Expr> variables_of(const PlannedGraph& planned) {
  std::vector<Expr> found;
  const auto add = [&](Expr expr) {
    for (Expr variable : expr.variables()) found.push_back(variable);
  };
  for (const Source& source : planned.terms.sources) {
    for (Expr dim : source.dims) add(dim);
  }
  for (const TermClass& value : planned.terms.classes) {
    for (Expr dim : value.dims) add(dim);
    for (const Term& term : value.terms) {
      if (const auto* iota = std::get_if<IotaTerm>(&term)) add(iota->expr);
      if (const auto* view = std::get_if<ReindexTerm>(&term)) {
        for (Expr expr : view->map.exprs()) add(expr);
      }
    }
  }
  std::sort(found.begin(), found.end(), [](Expr a, Expr b) { return a.name() < b.name(); });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

std::string text(const PlannedGraph& planned) {
  std::string out = "plan 1\n";
  for (Expr variable : variables_of(planned)) {
    out += variable_line(variable);
  }
  const TermGraph& terms = planned.terms;
  for (SourceId s : terms.sources.ids()) {
    const Source& source = terms.sources[s];
    out += fmt::format("source {} {} %{} : {}\n", s.value, base::quoted(source.name),
                       planned.source_nodes[s].value, type_text(source.dtype, source.dims));
  }
  out += text(terms);
  out += fmt::format("nodes {}\n", planned.class_of.size());
  for (size_t n = 0; n < planned.class_of.size(); ++n) {
    if (!planned.class_of[n].valid()) continue;
    out += fmt::format("node %{} {}\n", n, class_name(planned.class_of[n]));
  }
  out += fmt::format("modelled {}\n", planned.plan.model_seconds);
  for (const auto& step : planned.plan.steps) {
    const auto* host = std::get_if<HostStep>(&step);
    out += host != nullptr ? fmt::format("host {}\n", host->source.value)
                           : step_text(std::get<KernelStep>(step));
  }
  return out;
}

}  // namespace luminal::kernel
