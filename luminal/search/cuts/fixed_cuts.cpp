#include "luminal/search/cuts/fixed_cuts.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "luminal/search/cost/expr_value.h"

namespace luminal::search {
namespace {

using kernel::ClassId;
using kernel::Term;

// What is stored decides which kernels have a reduction before a value, and that decides what is
// stored; a few passes settle it.
constexpr int kPasses = 4;

struct Reader {
  ClassId id;
  bool repeats;  // it would compute elements of the value more than once
};

class FixedCuts {
 public:
  FixedCuts(const kernel::TermGraph& graph, const PlanCost& cost, const Bindings& sizes)
      : graph_(graph),
        cost_(cost),
        sizes_(sizes),
        readers_(graph.classes.size()),
        kernel_of_(graph.classes.size()),
        only_padded_(graph.classes.size(), false),
        cut_(cost.forced()) {
    find_order();
    for (ClassId id : order_) {
      if (const auto value = padded(id)) only_padded_[value->index()] = true;
    }
    for (ClassId id : order_) {
      if (is_view(id) && !cut_[id.index()]) continue;
      if (is_view(id)) {
        add_reader(id, id);
      } else {
        for (ClassId operand : kernel::operands(cost_.term_of(id))) add_reader(id, operand);
      }
    }
  }

  std::vector<bool> cuts() {
    for (int pass = 0; pass < kPasses; ++pass) run();
    return std::move(cut_);
  }

 private:
  // Operands before what reads them. Iterative: graphs are thousands of values deep.
  void find_order() {
    std::vector<uint8_t> seen(graph_.classes.size(), 0);
    std::vector<ClassId> stack(cost_.roots().rbegin(), cost_.roots().rend());
    while (!stack.empty()) {
      const ClassId id = stack.back();
      uint8_t& state = seen[id.index()];
      if (state == 0) {
        state = 1;
        for (ClassId operand : kernel::operands(cost_.term_of(id))) {
          if (seen[operand.index()] == 0) stack.push_back(operand);
        }
        continue;
      }
      stack.pop_back();
      if (state == 1) order_.push_back(id);
      state = 2;
    }
  }

  bool is_leaf(ClassId id) const { return kernel::operands(cost_.term_of(id)).empty(); }
  bool is_reduction(ClassId id) const {
    const Term& term = cost_.term_of(id);
    return std::holds_alternative<kernel::ReduceTerm>(term) ||
           std::holds_alternative<kernel::ScanTerm>(term);
  }
  const kernel::ReindexTerm* view(ClassId id) const {
    return std::get_if<kernel::ReindexTerm>(&cost_.term_of(id));
  }
  ClassId behind_views(ClassId id) const {
    while (const auto* by = view(id)) id = by->operand;
    return id;
  }

  template <typename Kind>
  bool is_view_of(ClassId id) const {
    return std::holds_alternative<Kind>(cost_.term_of(behind_views(id)));
  }

  // The value that padding surrounds with a constant.
  std::optional<ClassId> padded(ClassId id) const {
    const auto* select = std::get_if<kernel::OpTerm>(&cost_.term_of(id));
    if (select == nullptr || select->op != Op::Select) return std::nullopt;
    const auto& [condition, a, b] =
        std::tie(select->operands[0], select->operands[1], select->operands[2]);
    if (!is_view_of<kernel::IotaTerm>(condition)) return std::nullopt;
    if (is_view_of<kernel::ConstTerm>(b)) return a;
    if (is_view_of<kernel::ConstTerm>(a)) return b;
    return std::nullopt;
  }

  bool is_view(ClassId id) const { return view(id) != nullptr || padded(id).has_value(); }
  double elements(ClassId id) const { return value(n_elements(graph_.at(id).dims), sizes_); }

  void add_reader(ClassId reader, ClassId operand) {
    bool repeats = false;
    while (is_view(operand) && (operand == reader || !cut_[operand.index()])) {
      const auto* by = view(operand);
      const ClassId under = by != nullptr ? by->operand : *padded(operand);
      repeats |=
          by != nullptr && !only_padded_[operand.index()] && elements(operand) > elements(under);
      operand = under;
    }
    if (!is_leaf(operand)) readers_[operand.index()].push_back({reader, repeats});
  }

  // From the results to the leaves: readers are in kernels already.
  void run() {
    const std::vector<bool> reduced = reduced_before();
    std::vector<bool> in_sum(graph_.classes.size(), false);
    std::vector<bool> has_reduction(graph_.classes.size(), false);
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const ClassId id = *it;
      const size_t at = id.index();
      if (is_leaf(id) || (is_view(id) && !cost_.forced()[at])) continue;
      std::set<ClassId> kernels;
      bool repeats = false;
      for (const Reader& reader : readers_[at]) {
        kernels.insert(kernel_of_[reader.id.index()]);
        repeats |= reader.repeats;
        in_sum[at] = in_sum[at] || is_reduction(reader.id) ||
                     (in_sum[reader.id.index()] && !cut_[reader.id.index()]);
      }
      const bool wants = kernels.size() != 1 || repeats || (in_sum[at] && reduced[at]) ||
                         (is_reduction(id) && has_reduction[kernels.begin()->index()]);
      const bool stored = cost_.forced()[at] || (wants && cost_.is_live(id));
      cut_[at] = stored;
      kernel_of_[at] = stored || kernels.empty() ? id : *kernels.begin();
      if (is_reduction(id)) has_reduction[kernel_of_[at].index()] = true;
    }
  }

  // By class: whether its kernel computes a reduction first, if what was last stored is.
  std::vector<bool> reduced_before() const {
    std::vector<bool> reduced(graph_.classes.size(), false);
    for (ClassId id : order_) {
      if (is_reduction(id)) reduced[id.index()] = true;
      if (!reduced[id.index()] || cut_[id.index()]) continue;
      for (const Reader& reader : readers_[id.index()]) {
        if (!reader.repeats) reduced[reader.id.index()] = true;
      }
    }
    return reduced;
  }

  const kernel::TermGraph& graph_;
  const PlanCost& cost_;
  const Bindings& sizes_;
  std::vector<ClassId> order_;
  std::vector<std::vector<Reader>> readers_;  // by value, behind views
  std::vector<ClassId> kernel_of_;            // by value: what the kernel that computes it stores
  // By view: it is the inside of a padding, and repeats elements only where they aren't read.
  std::vector<bool> only_padded_;
  std::vector<bool> cut_;
};

}  // namespace

std::vector<bool> fixed_cuts(const kernel::TermGraph& graph, const PlanCost& cost,
                             const Bindings& sizes) {
  return FixedCuts(graph, cost, sizes).cuts();
}

}  // namespace luminal::search
