#include "luminal/search/terms/weight_facts.h"

#include <algorithm>

#include "luminal/kernel/plan/folding.h"

namespace luminal::search {
namespace {

using kernel::ClassId;

bool is_weight_leaf(const Graph& graph, const SourceTensor& source) {
  return !source.host_step && graph.node(source.node).as<InputAttr>().role == Role::Weight;
}

}  // namespace

WeightFacts::WeightFacts(const Graph& graph,
                         const IdVector<kernel::SourceId, SourceTensor>& sources,
                         const kernel::TermGraph& terms, const std::vector<int>& chosen,
                         const std::vector<ClassId>& results)
    : is_weight_(terms.classes.size(), false), is_result_(terms.classes.size(), false) {
  for (ClassId id : results) is_result_[id.index()] = true;
  std::vector<std::vector<ClassId>> readers(terms.classes.size());
  std::vector<ClassId> others;  // values that depend on more than weights, and whose readers do
  for (uint32_t i = 0; i < terms.classes.size(); ++i) {
    const ClassId id{i};
    is_weight_[i] = chosen[i] >= 0;
    for (const kernel::Term& term : terms.at(id).terms) {
      const std::vector<ClassId> operands = kernel::operands(term);
      const bool computes = std::ranges::all_of(
          operands, [&](ClassId operand) { return chosen[operand.index()] >= 0; });
      if (!computes) continue;
      for (ClassId operand : operands) readers[operand.index()].push_back(id);
      const auto* load = std::get_if<kernel::LoadTerm>(&term);
      if (load != nullptr && !is_weight_leaf(graph, sources[load->source])) others.push_back(id);
    }
  }
  while (!others.empty()) {
    const ClassId id = others.back();
    others.pop_back();
    if (!is_weight_[id.index()]) continue;
    is_weight_[id.index()] = false;
    others.insert(others.end(), readers[id.index()].begin(), readers[id.index()].end());
  }
}

bool WeightFacts::runs_once(const kernel::LoweredKernel& lowered, const Bindings& sizes) const {
  for (kernel::ParamId p : lowered.origins.ids()) {
    const ClassId value = lowered.origins[p].value;
    const bool output = lowered.kernel.params[p].output;
    if (output ? is_result(value) : !is_weight(value)) return false;
  }
  return !is_weight_.empty() && may_run_once(lowered.kernel, sizes);
}

std::string WeightFacts::letters(const kernel::LoweredKernel& lowered) const {
  std::string letters;
  for (kernel::ParamId p : lowered.origins.ids()) {
    letters += lowered.kernel.params[p].output       ? 'o'
               : is_weight(lowered.origins[p].value) ? 'w'
                                                     : 'r';
  }
  return letters;
}

bool may_run_once(const kernel::Kernel& kernel, const Bindings& sizes) {
  const auto bytes = [&](Expr e) { return e.evaluate(sizes).value.value_or(0); };
  return kernel.variables.empty() &&
         kernel::is_worth_folding(bytes(kernel.bytes_read), bytes(kernel.bytes_written));
}

bool widens_format(const kernel::Kernel& kernel) {
  int widest_input = 0, widest_output = 0;
  bool integers = false;
  for (const kernel::Param& param : kernel.params) {
    int& widest = param.output ? widest_output : widest_input;
    widest = std::max(widest, bits(param.dtype));
    integers |= !param.output && !is_float(param.dtype);
  }
  return integers || widest_output > widest_input;
}

}  // namespace luminal::search
