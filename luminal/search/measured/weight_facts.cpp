#include "luminal/search/measured/weight_facts.h"

#include <algorithm>

#include "luminal/kernel/plan/plan.h"

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
  enum class Known : uint8_t { No, Open, Yes };
  std::vector<Known> known(terms.classes.size(), Known::No);
  std::vector<ClassId> stack;
  for (uint32_t i = 0; i < terms.classes.size(); ++i) stack.push_back(ClassId{i});
  // Post-order: a class is visited before and after its operands.
  while (!stack.empty()) {
    const ClassId id = stack.back();
    const int term_number = chosen[id.index()];
    if (known[id.index()] == Known::Yes || term_number < 0) {
      stack.pop_back();
      continue;
    }
    const kernel::Term& term = terms.at(id).terms[static_cast<size_t>(term_number)];
    const std::vector<ClassId> operands = kernel::operands(term);
    if (known[id.index()] == Known::No) {
      known[id.index()] = Known::Open;
      for (ClassId operand : operands) {
        if (known[operand.index()] == Known::No) stack.push_back(operand);
      }
      continue;
    }
    stack.pop_back();
    known[id.index()] = Known::Yes;
    if (const auto* load = std::get_if<kernel::LoadTerm>(&term)) {
      is_weight_[id.index()] = is_weight_leaf(graph, sources[load->source]);
    } else {
      is_weight_[id.index()] = std::ranges::all_of(
          operands, [&](ClassId operand) { return is_weight_[operand.index()]; });
    }
  }
}

bool WeightFacts::is_weight(const kernel::ParamOrigin& origin) const {
  return !is_weight_.empty() && is_weight_[origin.value.index()];
}

bool WeightFacts::runs_once(const kernel::LoweredKernel& lowered, const Bindings& sizes) const {
  bool reads = false;
  for (kernel::ParamId p : lowered.origins.ids()) {
    const kernel::ParamOrigin& origin = lowered.origins[p];
    if (lowered.kernel.params[p].output) {
      if (!is_result_.empty() && is_result_[origin.value.index()]) return false;
      continue;
    }
    if (!is_weight(origin)) return false;
    reads = true;
  }
  const auto bytes = [&](Expr e) { return e.evaluate(sizes).value.value_or(0); };
  return reads && lowered.kernel.variables.empty() &&
         bytes(lowered.kernel.bytes_written) <=
             kernel::kMostFoldedGrowth * bytes(lowered.kernel.bytes_read);
}

std::string WeightFacts::letters(const kernel::LoweredKernel& lowered) const {
  std::string letters;
  for (kernel::ParamId p : lowered.origins.ids()) {
    letters += lowered.kernel.params[p].output ? 'o' : is_weight(lowered.origins[p]) ? 'w' : 'r';
  }
  return letters;
}

}  // namespace luminal::search
