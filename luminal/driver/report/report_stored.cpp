#include "luminal/driver/report/report_stored.h"

#include <fmt/format.h>

#include <map>

#include "luminal/search/inspect/value_name.h"

namespace luminal {

void report_stored(const Graph& graph, const kernel::PlannedGraph& planned,
                   const std::vector<search::StoredValue>& values, CompileReport& report) {
  std::map<kernel::ClassId, std::string> kernels;  // by what they store
  // The report's last ones are this plan's.
  size_t next = report.kernels.size() - static_cast<size_t>(planned.plan.n_kernels());
  for (const auto& step : planned.plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr) continue;
    const std::string& name = report.kernels[next++].name;
    for (kernel::ParamId p : kernel->lowered.origins.ids()) {
      if (kernel->lowered.kernel.params[p].output) kernels[kernel->lowered.origins[p].value] = name;
    }
  }
  const search::ValueNames names(graph, planned.class_of, planned.terms);
  for (const search::StoredValue& value : values) {
    const kernel::TermClass& stored = planned.terms.at(value.value);
    StoredReport entry{.value = names.of(value.value),
                       .type = fmt::format("{}{}", name(stored.dtype), text(stored.dims)),
                       .kernel = kernels[value.value],
                       .readers = {},
                       .because = search::text(value.because),
                       .why = value.why,
                       .extra_us = 0};
    for (kernel::ClassId reader : value.readers) entry.readers.push_back(kernels[reader]);
    entry.extra_us = value.extra_seconds * 1e6;
    report.stored.push_back(std::move(entry));
  }
}

}  // namespace luminal
