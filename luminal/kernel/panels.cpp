#include "luminal/kernel/panels.h"

#include <algorithm>

namespace luminal::kernel {
namespace {

// Few columns in wide panels are mostly padding, and a tensor that repeats along columns is
// smaller than its panels.
constexpr int64_t kMostGrowth = 2;

bool is_packable(DType dtype) { return dtype == DType::F32 || is_half(dtype); }

// The load that a factor is, as it stands or cast to f32.
std::optional<InstId> plain_load(const Stage& stage, InstId factor) {
  const Inst* inst = &stage.body[factor.index()];
  if (const auto* op = std::get_if<OpInst>(&inst->what)) {
    if (op->op != Op::Cast || inst->dtype != DType::F32) return std::nullopt;
    factor = op->operands[0];
    inst = &stage.body[factor.index()];
    if (!is_half(inst->dtype)) return std::nullopt;
  }
  const bool fits = std::holds_alternative<LoadInst>(inst->what) && is_packable(inst->dtype);
  return fits ? std::optional(factor) : std::nullopt;
}

bool uses(const LoadInst& load, int loop) {
  return std::any_of(load.index.begin(), load.index.end(),
                     [&](const Index& index) { return index.expr.uses_index(loop); });
}

bool is_static(const LoadInst& load) {
  return std::all_of(load.index.begin(), load.index.end(), [](const Index& index) {
    return !index.value && index.expr.variables().empty();
  });
}

// The loops of a load by their part in the product, with their sizes.
class PanelLoops {
 public:
  PanelLoops(const Kernel& kernel, const ContractionForm& form, const Contraction& contraction,
             const LoadInst& load)
      : kernel_(kernel), columns_(form.columns), k_(contraction.k) {
    for (int loop : form.batch) {
      if (uses(load, loop)) batch_.push_back(loop);
    }
    for (int loop = 0; loop < static_cast<int>(kernel.loops.size()); ++loop) {
      if (uses(load, loop) && !has(loop)) fits_ = false;
    }
    for (int loop : batch_) measure(loop, n_batch_);
    for (int loop : columns_) measure(loop, n_columns_);
    measure(k_, n_k_);
  }

  // Whether the load depends on nothing else, and all sizes are known and not 0.
  bool fits() const { return fits_ && n_batch_ * n_columns_ * n_k_ > 0; }
  int64_t n_columns() const { return n_columns_; }
  int64_t n_k() const { return n_k_; }
  int64_t count() const { return n_batch_ * n_columns_ * n_k_; }

  Dims dims(int64_t lanes, int64_t depth) const {
    Dims dims;
    for (int loop : batch_) dims.push_back(extent(loop));
    const int64_t panels = (n_columns_ + lanes - 1) / lanes;
    dims.insert(dims.end(), {panels, n_k_ / depth, lanes, depth});
    return dims;
  }

  // The loops at an index of the panels, by loop; 0 for those that the load doesn't use.
  std::vector<Expr> loops_at(const Dims& dims) const {
    std::vector<Expr> loops(kernel_.loops.size(), Expr(0));
    auto index = [&](size_t axis) { return Expr::index(static_cast<int>(axis), dims[axis]); };
    for (size_t b = 0; b < batch_.size(); ++b) set(loops, batch_[b], index(b));
    const size_t panel = batch_.size();
    const Expr lanes = dims[panel + 2], depth = dims[panel + 3];
    Expr column = index(panel) * lanes + index(panel + 2);
    if (!(dims[panel] * lanes).is(n_columns_)) column = column % n_columns_;
    for (size_t c = columns_.size(); c-- > 1;) {
      set(loops, columns_[c], column % extent(columns_[c]));
      column = column / extent(columns_[c]);
    }
    if (!columns_.empty()) set(loops, columns_[0], column);
    set(loops, k_, index(panel + 1) * depth + index(panel + 3));
    return loops;
  }

  // Where in the panels the kernel's loops stand.
  std::vector<Index> index(int64_t lanes, int64_t depth) const {
    std::vector<Index> index;
    auto add = [&](Expr expr) { index.push_back({.expr = expr, .value = std::nullopt}); };
    Expr column = 0;
    for (int loop : columns_) column = column * extent(loop) + Expr::index(loop, extent(loop));
    const Expr k = Expr::index(k_, extent(k_));
    for (int loop : batch_) add(Expr::index(loop, extent(loop)));
    add(column / lanes);
    add(k / depth);
    add(column % lanes);
    add(k % depth);
    return index;
  }

 private:
  Expr extent(int loop) const { return kernel_.loops[static_cast<size_t>(loop)].extent; }
  bool has(int loop) const {
    return loop == k_ || std::find(batch_.begin(), batch_.end(), loop) != batch_.end() ||
           std::find(columns_.begin(), columns_.end(), loop) != columns_.end();
  }
  void measure(int loop, int64_t& product) const { product *= extent(loop).to_int().value_or(0); }
  static void set(std::vector<Expr>& loops, int loop, Expr expr) {
    loops[static_cast<size_t>(loop)] = expr;
  }

  const Kernel& kernel_;
  std::vector<int> batch_;  // those of the form that the load uses
  const std::vector<int>& columns_;
  const int k_;
  bool fits_ = true;
  int64_t n_batch_ = 1, n_columns_ = 1, n_k_ = 1;
};

}  // namespace

std::optional<PanelRead> read_in_panels(const Kernel& kernel, const ContractionForm& form,
                                        const Contraction& contraction, const Packing& packing) {
  const Stage& stage = kernel.stages[static_cast<size_t>(contraction.stage)];
  const std::optional<InstId> at = plain_load(stage, contraction.right);
  if (!at) return std::nullopt;
  const auto& load = std::get<LoadInst>(stage.body[at->index()].what);
  const Param& param = kernel.params[static_cast<size_t>(load.param)];
  const std::optional<int64_t> held = n_elements(param.dims).to_int();
  if (!held || !is_static(load)) return std::nullopt;
  const PanelLoops loops(kernel, form, contraction, load);
  const int64_t depth = packing.depth(param.dtype);
  if (!loops.fits() || loops.n_k() % depth != 0) return std::nullopt;
  const Dims dims = loops.dims(packing.lanes, depth);
  if (n_elements(dims).to_int().value() > kMostGrowth * std::min(*held, loops.count())) {
    return std::nullopt;
  }
  const std::vector<Expr> at_panels = loops.loops_at(dims);
  std::vector<Expr> exprs;
  for (const Index& index : load.index) exprs.push_back(index.expr.substitute_indices(at_panels));
  return PanelRead{.load = *at,
                   .map = IndexMap(dims, param.dims, std::move(exprs)),
                   .index = loops.index(packing.lanes, depth)};
}

bool reads_panels(const Kernel& kernel, const ContractionForm& form, const Contraction& contraction,
                  const Packing& packing) {
  const Stage& stage = kernel.stages[static_cast<size_t>(contraction.stage)];
  const std::optional<InstId> at = plain_load(stage, contraction.right);
  if (!at) return false;
  const auto& load = std::get<LoadInst>(stage.body[at->index()].what);
  const Param& param = kernel.params[static_cast<size_t>(load.param)];
  const PanelLoops loops(kernel, form, contraction, load);
  const int64_t depth = packing.depth(param.dtype);
  if (!loops.fits() || loops.n_k() % depth != 0) return false;
  if (!same_dims(param.dims, loops.dims(packing.lanes, depth))) return false;
  const std::vector<Index> index = loops.index(packing.lanes, depth);
  return std::equal(index.begin(), index.end(), load.index.begin(), load.index.end(),
                    [](const Index& a, const Index& b) { return !b.value && a.expr == b.expr; });
}

}  // namespace luminal::kernel
