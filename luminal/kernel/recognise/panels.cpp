#include "luminal/kernel/recognise/panels.h"

#include <algorithm>

#include "luminal/kernel/ir/inst_uses.h"
#include "luminal/kernel/recognise/quantised_form.h"

namespace luminal::kernel {
namespace {

// Panels of few columns are mostly padding, and a tensor that is broadcast along columns is smaller
// than its panels.
constexpr int64_t kMostGrowth = 2;

bool is_packable(DType dtype) { return dtype == DType::F32 || is_half(dtype); }

// The load that a factor is, directly or cast to f32.
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

bool uses(const LoadInst& load, LoopId loop) {
  return std::any_of(load.index.begin(), load.index.end(),
                     [&](const Index& index) { return uses_loop(index.expr, loop); });
}

bool is_static(const LoadInst& load) {
  return std::all_of(load.index.begin(), load.index.end(), [](const Index& index) {
    return !index.value && index.expr.variables().empty();
  });
}

enum class Side : uint8_t { Left, Right };

// The loops of a load by their role in the product, with their extents. The load is constant over
// blocks of `block` steps along k.
class PanelLoops {
 public:
  PanelLoops(const Kernel& kernel, const ContractionForm& form, const Contraction& contraction,
             const LoadInst& load, int64_t block = 1, Side side = Side::Right)
      : kernel_(kernel),
        columns_(side == Side::Right ? form.columns : form.rows),
        k_(contraction.k),
        block_(block) {
    for (LoopId loop : form.batch) {
      if (uses(load, loop)) batch_.push_back(loop);
    }
    for (LoopId loop : kernel.loops.ids()) {
      if (uses(load, loop) && !has(loop)) fits_ = false;
    }
    for (LoopId loop : batch_) measure(loop, n_batch_);
    for (LoopId loop : columns_) measure(loop, n_columns_);
    measure(k_, n_k_);
    n_k_ /= block_;
  }

  // Whether the load depends on no other loop, and all extents are known and not 0.
  bool fits() const { return fits_ && n_batch_ * n_columns_ * n_k_ > 0; }
  int64_t n_columns() const { return n_columns_; }
  int64_t n_k() const { return n_k_; }
  int64_t count() const { return n_batch_ * n_columns_ * n_k_; }

  Dims dims(int64_t lanes, int64_t depth) const {
    Dims dims;
    for (LoopId loop : batch_) dims.push_back(extent(loop));
    const int64_t panels = (n_columns_ + lanes - 1) / lanes;
    dims.insert(dims.end(), {panels, n_k_ / depth, lanes, depth});
    return dims;
  }

  // By loop: its index as a function of the index in the panels; 0 if the load doesn't use it.
  IdVector<LoopId, Expr> loops_at(const Dims& dims) const {
    IdVector<LoopId, Expr> loops(kernel_.loops.size(), Expr(0));
    auto index = [&](size_t axis) { return Expr::index(static_cast<int>(axis), dims[axis]); };
    for (size_t b = 0; b < batch_.size(); ++b) loops[batch_[b]] = index(b);
    const size_t panel = batch_.size();
    const Expr lanes = dims[panel + 2], depth = dims[panel + 3];
    Expr column = index(panel) * lanes + index(panel + 2);
    if (!(dims[panel] * lanes).is(n_columns_)) column = column % n_columns_;
    for (size_t c = columns_.size(); c-- > 1;) {
      loops[columns_[c]] = column % extent(columns_[c]);
      column = column / extent(columns_[c]);
    }
    if (!columns_.empty()) loops[columns_[0]] = column;
    loops[k_] = (index(panel + 1) * depth + index(panel + 3)) * block_;
    return loops;
  }

  // The index in the panels as a function of the kernel's loops.
  std::vector<Index> index(int64_t lanes, int64_t depth) const {
    std::vector<Index> index;
    auto add = [&](Expr expr) { index.push_back({.expr = expr, .value = std::nullopt}); };
    Expr column = 0;
    for (LoopId loop : columns_) column = column * extent(loop) + index_of(kernel_, loop);
    const Expr k = index_of(kernel_, k_) / block_;
    for (LoopId loop : batch_) add(index_of(kernel_, loop));
    add(column / lanes);
    add(k / depth);
    add(column % lanes);
    add(k % depth);
    return index;
  }

 private:
  Expr extent(LoopId loop) const { return extent_of(kernel_, loop); }
  bool has(LoopId loop) const {
    return loop == k_ || std::find(batch_.begin(), batch_.end(), loop) != batch_.end() ||
           std::find(columns_.begin(), columns_.end(), loop) != columns_.end();
  }
  void measure(LoopId loop, int64_t& product) const {
    product *= extent(loop).to_int().value_or(0);
  }

  const Kernel& kernel_;
  std::vector<LoopId> batch_;  // the batch loops that the load uses
  const std::vector<LoopId>& columns_;
  const LoopId k_;
  const int64_t block_;
  bool fits_ = true;
  int64_t n_batch_ = 1, n_columns_ = 1, n_k_ = 1;
};

// Rewrites the loads of a factor as loads of panels; empty if one doesn't fit.
class PanelReader {
 public:
  PanelReader(const Kernel& kernel, const ContractionForm& form, const Contraction& contraction,
              const Packing& packing, Side side = Side::Right)
      : kernel_(kernel),
        form_(form),
        contraction_(contraction),
        packing_(packing),
        side_(side),
        stage_(kernel.stages[contraction.stage]) {}

  // Of rows of f32: their elements stay f32 in every micro kernel.
  std::vector<PanelRead> run_left() {
    const auto* load = std::get_if<LoadInst>(&stage_.body[contraction_.left.index()].what);
    if (load == nullptr || stage_.body[contraction_.left.index()].dtype != DType::F32) return {};
    if (form_.rows.size() != 1) return {};  // blocks divide one loop, which panels must lie along
    std::optional<PanelRead> one = read(contraction_.left, 1);
    return one ? std::vector{std::move(*one)} : std::vector<PanelRead>();
  }

  std::vector<PanelRead> run() {
    if (const std::optional<InstId> at = plain_load(stage_, contraction_.right)) {
      std::optional<PanelRead> one = read(*at, depth_of(*at));
      return one ? std::vector{std::move(*one)} : std::vector<PanelRead>();
    }
    const std::optional<QuantisedForm> quantised = quantised_form(kernel_, contraction_);
    return quantised ? read_quantised(*quantised) : std::vector<PanelRead>();
  }

 private:
  std::vector<PanelRead> read_quantised(const QuantisedForm& quantised) {
    const std::vector<bool> needed = needed_for(stage_, contraction_.right);
    std::vector<PanelRead> reads;
    for (uint32_t k = 0; k < needed.size(); ++k) {
      const auto* load = std::get_if<LoadInst>(&stage_.body[k].what);
      if (!needed[k] || load == nullptr || !uses_columns(*load)) continue;
      const bool integer = std::ranges::find(quantised.terms, InstId{k}, &QuantisedTerm::integer) !=
                           quantised.terms.end();
      std::optional<PanelRead> one = integer ? read(InstId{k}, depth_of(InstId{k}))
                                             : read(InstId{k}, 1, longest_block(k, quantised));
      if (!one) return {};
      reads.push_back(std::move(*one));
    }
    return reads;
  }

  bool uses_columns(const LoadInst& load) const {
    return std::ranges::any_of(form_.columns, [&](LoopId loop) { return uses(load, loop); });
  }

  int64_t longest_block(uint32_t load, const QuantisedForm& quantised) const {
    const int64_t extent = extent_of(kernel_, contraction_.k).to_int().value();
    auto is_same = [&](int64_t block) {
      return extent % block == 0 &&
             is_same_in_blocks(kernel_, stage_.body[load], contraction_.k, block);
    };
    if (is_same(extent)) return extent;
    int64_t block = quantised.block;
    while (is_same(2 * block)) block *= 2;
    return block;
  }

  int64_t depth_of(InstId load) const { return packing_.depth(stage_.body[load.index()].dtype); }

  std::optional<PanelRead> read(InstId at, int64_t depth, int64_t block = 1) const {
    const auto& load = std::get<LoadInst>(stage_.body[at.index()].what);
    const Param& param = kernel_.params[load.param];
    const std::optional<int64_t> held = n_elements(param.dims).to_int();
    if (!held || !is_static(load)) return std::nullopt;
    const PanelLoops loops(kernel_, form_, contraction_, load, block, side_);
    if (!loops.fits() || loops.n_k() % depth != 0) return std::nullopt;
    const Dims dims = loops.dims(packing_.lanes, depth);
    if (n_elements(dims).to_int().value() > kMostGrowth * std::min(*held, loops.count())) {
      return std::nullopt;
    }
    const IdVector<LoopId, Expr> at_panels = loops.loops_at(dims);
    std::vector<Expr> exprs;
    for (const Index& index : load.index)
      exprs.push_back(index.expr.substitute_indices(at_panels.items()));
    PanelRead read{.load = at,
                   .map = IndexMap(dims, param.dims, std::move(exprs)),
                   .index = loops.index(packing_.lanes, depth)};
    if (param.dtype == DType::U4 && !word_map(read.map, kU4PerWord)) return std::nullopt;
    return read;
  }

  const Kernel& kernel_;
  const ContractionForm& form_;
  const Contraction& contraction_;
  const Packing& packing_;
  const Side side_;
  const Stage& stage_;
};

}  // namespace

std::vector<PanelRead> reads_in_panels(const Kernel& kernel, const ContractionForm& form,
                                       const Contraction& contraction, const Packing& packing) {
  return PanelReader(kernel, form, contraction, packing).run();
}

std::vector<PanelRead> rows_in_panels(const Kernel& kernel, const ContractionForm& form,
                                      const Contraction& contraction, const Packing& packing) {
  return PanelReader(kernel, form, contraction, packing, Side::Left).run_left();
}

std::optional<IndexMap> word_map(const IndexMap& map, int elements) {
  const Expr per_word = elements;
  if (map.dims().empty() || map.source_dims().empty()) return std::nullopt;
  const int inner = static_cast<int>(map.dims().size()) - 1;
  if (!(map.dims().back() == per_word) || !(map.source_dims().back() % per_word).is(0)) {
    return std::nullopt;
  }
  std::vector<Expr> at_first, exprs;
  for (int axis = 0; axis < inner; ++axis) {
    at_first.push_back(Expr::index(axis, map.dims()[static_cast<size_t>(axis)]));
  }
  at_first.push_back(0);
  for (size_t axis = 0; axis < map.exprs().size(); ++axis) {
    const Expr first = map.exprs()[axis].substitute_indices(at_first);
    const bool last = axis + 1 == map.exprs().size();
    const Expr inside = last ? Expr::index(inner, per_word) : Expr(0);
    if (map.exprs()[axis] != first + inside) return std::nullopt;
    if (last && !(first % per_word).is(0)) return std::nullopt;
    exprs.push_back(last ? first / per_word : first);
  }
  Dims dims(map.dims().begin(), map.dims().end() - 1), source = map.source_dims();
  source.back() = source.back() / per_word;
  return IndexMap(dims, source, std::move(exprs));
}

bool reads_panels(const Kernel& kernel, const ContractionForm& form, const Contraction& contraction,
                  const Packing& packing) {
  const Stage& stage = kernel.stages[contraction.stage];
  const std::optional<InstId> at = plain_load(stage, contraction.right);
  if (!at) return false;
  const auto& load = std::get<LoadInst>(stage.body[at->index()].what);
  const Param& param = kernel.params[load.param];
  const PanelLoops loops(kernel, form, contraction, load);
  const int64_t depth = packing.depth(param.dtype);
  if (!loops.fits() || loops.n_k() % depth != 0) return false;
  if (!same_dims(param.dims, loops.dims(packing.lanes, depth))) return false;
  const std::vector<Index> index = loops.index(packing.lanes, depth);
  return std::equal(index.begin(), index.end(), load.index.begin(), load.index.end(),
                    [](const Index& a, const Index& b) { return !b.value && a.expr == b.expr; });
}

}  // namespace luminal::kernel
