#include "luminal/kernel/recognise/split_softmax.h"

#include <algorithm>
#include <limits>

#include "luminal/kernel/recognise/contraction_form.h"
#include "luminal/kernel/recognise/masked_range.h"
#include "luminal/kernel/recognise/softmax_form.h"
#include "luminal/kernel/recognise/work.h"

namespace luminal::kernel {
namespace {

// Rows that share keys, at most, where the split is the default: more rows do enough work per key
// that they read, and row blocks suit them better. With fewer outer points than kFewPoints threads
// would be idle, so up to kMostRows are split.
constexpr int64_t kFewRows = 8;
constexpr int64_t kFewPoints = 4;
// With more outer points than this, threads have enough to do without a split.
constexpr int64_t kManyPoints = 256;
// Rows that may be split at all: a range has local buffers for all of them.
constexpr int64_t kMostRows = 32;
// The second kernel costs more than shorter ranges than this could save.
constexpr int64_t kShortestRange = 32;

template <typename IdType>
bool contains(const std::vector<IdType>& list, IdType value) {
  return std::ranges::find(list, value) != list.end();
}

std::vector<Expr> indices_of(const Kernel& kernel, const std::vector<LoopId>& loops) {
  std::vector<Expr> result;
  for (LoopId loop : loops) result.push_back(index_of(kernel, loop));
  return result;
}

template <typename What>
InstId append(Stage& stage, DType dtype, What what) {
  stage.body.push_back({.dtype = dtype, .what = std::move(what)});
  return InstId::at(stage.body.size() - 1);
}

InstId append_op(Stage& stage, DType dtype, Op op, std::vector<InstId> operands) {
  return append(stage, dtype, OpInst{.op = op, .operands = std::move(operands)});
}

InstId append_number(Stage& stage, double number) {
  return append(stage, DType::F32, ConstInst{.real = number, .integer = 0});
}

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// A stage without the instructions that its result doesn't need.
Stage pruned(const Stage& stage) {
  Stage made = factor_stage(stage, stage.result);
  made.dtype = stage.dtype;
  made.loops = stage.loops;
  made.reduction = stage.reduction;
  made.target = stage.target;
  return made;
}

std::vector<Index> plain(const std::vector<Expr>& exprs) {
  std::vector<Index> index;
  for (Expr e : exprs) index.push_back({.expr = e, .value = {}});
  return index;
}

// One of the two kernels, and where its parameters come from.
struct Half {
  Kernel& kernel;
  IdVector<ParamId, ParamId>& params;

  // The parameter of this kernel that is `source` of the original or, past those, of `between`;
  // added if new.
  ParamId param(ParamId source, const Param& what, bool output) {
    for (ParamId known : params.ids()) {
      if (params[known] == source) return known;
    }
    kernel.params.push_back(what);
    kernel.params.back().output = output;
    return params.push_back(source);
  }
};

class Splitter {
 public:
  Splitter(const Kernel& kernel, SoftmaxForm form, int64_t keys_of_range)
      : kernel_(kernel),
        form_(std::move(form)),
        most_keys_(keys_of_range),
        ranges_{out_.ranges, out_.ranges_params},
        together_{out_.together, out_.together_params} {}

  SplitForm form() {
    if (!is_possible()) return {};
    int64_t keys = kKeysOfRange;
    while (keys > kShortestRange && count_.upper_bound() <= keys) keys /= 2;
    if (count_.upper_bound() <= keys) return {};
    return {.keys_of_range = keys, .is_default = keys == kKeysOfRange && is_worth_it()};
  }

  std::optional<SplitSoftmax> run() {
    if (!is_possible() || count_.upper_bound() <= most_keys_) return std::nullopt;
    find_ranges();
    name_loops();
    build_ranges();
    build_together();
    return std::move(out_);
  }

 private:
  const Stage& stage(StageId id) const { return kernel_.stages[id]; }
  bool is_key(LoopId loop) const { return form_.is_key(loop); }
  const Param& param(ParamId id) const { return kernel_.params[id]; }
  // How the halves name what the first leaves for the second.
  ParamId between(size_t number) const { return ParamId::at(kernel_.params.size() + number); }

  // ---- What is split

  // Finds the keys to split, without those that a positional mask hides from all rows.
  void find_keys() {
    Expr end = extent_of(kernel_, form_.keys[0]);
    const auto masked = masked_range(kernel_, LoopId{0});
    const bool covers = masked && std::ranges::all_of(form_.keys, [&](LoopId k) {
                          return contains(masked->loops, k);
                        });
    if (covers) {
      for (const auto& bound : masked->last) {
        if (!bound.index.uses_indices()) end = min(end, bound.index + 1);
      }
      for (const auto& bound : masked->first) {
        if (!bound.index.uses_indices()) begin_ = max(begin_, bound.index);
      }
      end = max(end, 1);
      begin_ = min(begin_, end - 1);
    }
    count_ = end - begin_;
    if (covers) count_ = max(count_, 1);
  }

  void find_ranges() {
    n_ranges_ = ceil_div(count_, most_keys_);
    length_ = min(ceil_div(count_, n_ranges_), most_keys_);
  }

  // Sorts the outer loops: those that no key and no value depends on are rows.
  void find_rows() {
    IdVector<LoopId, bool> with_keys(static_cast<size_t>(kernel_.n_outer), false);
    auto uses = [](const LoadInst& load, LoopId loop) {
      return std::ranges::any_of(
          load.index, [&](const Index& i) { return i.value || uses_loop(i.expr, loop); });
    };
    for (const Stage& at : kernel_.stages) {
      for (const Inst& inst : at.body) {
        const auto* load = std::get_if<LoadInst>(&inst.what);
        if (load == nullptr) continue;
        if (std::ranges::none_of(form_.keys, [&](LoopId key) { return uses(*load, key); }))
          continue;
        for (LoopId loop : outer_loops(kernel_)) {
          if (uses(*load, loop)) with_keys[loop] = true;
        }
      }
    }
    for (LoopId loop : outer_loops(kernel_)) {
      (with_keys[loop] ? kept_ : rows_).push_back(loop);
    }
  }

  // Whether two kernels can compute it, whatever a range is.
  bool is_possible() {
    find_keys();
    find_rows();
    // Without keys, a range would read a key that isn't there.
    if (!known_less_equal(1, extent_of(kernel_, form_.keys[0]))) return false;
    if (!known_less_equal(1, count_) || most_rows() > kMostRows) return false;
    weighted_ = without_scales();
    scaled_ = scales_alone();
    find_stages();
    return fits();
  }

  int64_t most_rows() const {
    Expr rows = 1;
    for (LoopId loop : rows_) rows = rows * extent_of(kernel_, loop);
    for (LoopId loop : stage(form_.greatest).loops) rows = rows * extent_of(kernel_, loop);
    return rows.upper_bound();
  }

  bool is_worth_it() const {
    Expr points = 1;
    for (LoopId loop : kept_) points = points * extent_of(kernel_, loop);
    if (points.upper_bound() > kManyPoints) return false;
    return points.upper_bound() < kFewPoints || most_rows() <= kFewRows;
  }

  // ---- Which stages go where

  // The weighted sum, and apart from it its loop-invariant scales, which are applied after it.
  Stage without_scales() const {
    Stage sum = stage(form_.result);
    sum.result = form_.weight;
    for (InstId value : form_.values) {
      sum.result = append_op(sum, DType::F32, Op::Mul, {sum.result, value});
    }
    return pruned(sum);
  }
  Stage scales_alone() const {
    Stage rest = stage(form_.result);
    rest.reduction.reset();
    rest.result = append(rest, DType::F32,
                         LocalInst{form_.result, indices_of(kernel_, stage(form_.result).loops)});
    for (InstId scale : form_.scales) {
      rest.result = append_op(rest, DType::F32, Op::Mul, {rest.result, scale});
    }
    return pruned(rest);
  }

  // Marks the stages that a stage transitively reads, except those in `left`, which the other
  // kernel stores.
  void need(const Stage& at, const std::vector<StageId>& left,
            IdVector<StageId, bool>& needed) const {
    for (const Inst& inst : at.body) {
      const auto* local = std::get_if<LocalInst>(&inst.what);
      if (local == nullptr || contains(left, local->stage)) continue;
      if (needed[local->stage]) continue;
      needed[local->stage] = true;
      need(stage(local->stage), left, needed);
    }
  }

  void find_stages() {
    in_ranges_.resize(kernel_.stages.size());
    in_together_.resize(kernel_.stages.size());
    for (StageId s : {form_.greatest, form_.weights, form_.total}) {
      in_ranges_[s] = true;
      need(stage(s), {}, in_ranges_);
    }
    need(weighted_, {}, in_ranges_);
    const std::vector<StageId> left = {form_.total, form_.result};
    need(scaled_, left, in_together_);
    for (StageId s : kernel_.stages.ids()) {
      const bool stores = !std::holds_alternative<LocalTarget>(kernel_.stages[s].target);
      if (!stores || s == form_.result) continue;
      in_together_[s] = true;
      need(kernel_.stages[s], left, in_together_);
    }
  }

  bool fits() const {
    for (StageId s : kernel_.stages.ids()) {
      const Stage& at = kernel_.stages[s];
      const bool local = std::holds_alternative<LocalTarget>(at.target);
      if (std::holds_alternative<UpdateTarget>(at.target)) return false;
      if (in_ranges_[s] && !local) return false;
      const bool keys = std::ranges::any_of(at.loops, [&](LoopId loop) { return is_key(loop); }) ||
                        (at.reduction && is_key(at.reduction->loop));
      if (in_together_[s] && keys) return false;
      // Every range would compute this reduction again.
      if (in_ranges_[s] && at.reduction && !keys) return false;
    }
    return true;
  }

  // ---- The first kernel

  // Loops of the first kernel: the outer loops that keys depend on, the range, the rows, then all
  // inner loops.
  void name_loops() {
    Kernel& made = out_.ranges;
    name_.resize(kernel_.loops.size());
    auto add = [&](LoopId loop) {
      name_[loop] = made.loops.push_back({is_key(loop) ? length_ : extent_of(kernel_, loop)});
    };
    for (LoopId loop : kept_) add(loop);
    const Expr range = index_of(made.loops.push_back({n_ranges_}), n_ranges_);
    made.n_outer = static_cast<int>(made.loops.size());
    for (LoopId loop : rows_) add(loop);
    for (LoopId loop : kernel_.loops.ids()) {
      if (!is_outer(kernel_, loop)) add(loop);
    }
    before_ = range * length_;
    const Expr last = extent_of(kernel_, form_.keys[0]) - 1;
    for (LoopId loop : kernel_.loops.ids()) {
      const Expr own = index_of(made, name_[loop]);
      const Expr position = begin_ + before_ + own;
      const bool key = is_key(loop);
      own_index_.push_back(own);
      position_.push_back(key ? position : own);
      in_tensor_.push_back(key ? min(position, last) : own);
    }
  }

  // A stage over the loops of the first kernel. Row loops that it depends on become inner loops of
  // it.
  Stage renamed(Stage at, std::vector<LoopId>& rows) {
    auto use = [&](Expr e) {
      for (LoopId row : rows_) {
        if (uses_loop(e, row) && !contains(rows, row)) rows.push_back(row);
      }
    };
    for (Inst& inst : at.body) {
      if (auto* load = std::get_if<LoadInst>(&inst.what)) {
        load->param = ranges_.param(load->param, param(load->param), false);
        for (Index& i : load->index) {
          use(i.expr);
          i.expr = i.expr.substitute_indices(in_tensor_.items());
        }
      } else if (auto* iota = std::get_if<IotaInst>(&inst.what)) {
        use(iota->expr);
        iota->expr = iota->expr.substitute_indices(position_.items());
      } else if (auto* local = std::get_if<LocalInst>(&inst.what)) {
        std::vector<Expr> index;
        for (LoopId row : rows_of_[local->stage]) {
          use(index_of(kernel_, row));
          index.push_back(own_index_[row]);
        }
        for (Expr e : local->index) {
          use(e);
          index.push_back(e.substitute_indices(own_index_.items()));
        }
        *local = {number_[local->stage], std::move(index)};
      }
    }
    std::ranges::sort(rows);
    std::vector<LoopId> loops;
    for (LoopId row : rows) loops.push_back(name_[row]);
    for (LoopId loop : at.loops) loops.push_back(name_[loop]);
    at.loops = std::move(loops);
    if (at.reduction) at.reduction->loop = name_[at.reduction->loop];
    return at;
  }

  // Copies a body. After each instruction, `after` may append more and returns the one that
  // replaces it.
  template <typename After>
  static Stage with(const Stage& at, After after) {
    Stage made = at;
    made.body.clear();
    std::vector<InstId> renumbered(at.body.size());
    for (size_t k = 0; k < at.body.size(); ++k) {
      Inst inst = at.body[k];
      if (auto* op = std::get_if<OpInst>(&inst.what)) {
        for (InstId& operand : op->operands) operand = renumbered[operand.index()];
      } else if (auto* load = std::get_if<LoadInst>(&inst.what)) {
        for (Index& i : load->index) {
          if (i.value) i.value = renumbered[i.value->index()];
        }
      }
      made.body.push_back(std::move(inst));
      renumbered[k] = after(made, InstId::at(k), InstId::at(made.body.size() - 1));
    }
    made.result = renumbered[at.result.index()];
    return made;
  }

  // Scores past the last key of a range are −inf.
  InstId ended(Stage& at, InstId score, LoopId key) const {
    const Expr inside = before_ + index_of(out_.ranges, key) < count_;
    if (inside.is(1)) return score;
    const InstId seen = append(at, DType::Bool, IotaInst{inside});
    return append_op(at, DType::F32, Op::Select, {seen, score, append_number(at, kMinusInfinity)});
  }

  // The maximum score of a range may be −inf: 0 is subtracted then, and all weights are 0.
  static InstId or_zero(Stage& at, InstId greatest) {
    const InstId none = append_number(at, kMinusInfinity);
    const InstId hidden = append_op(at, DType::Bool, Op::Equal, {greatest, none});
    return append_op(at, DType::F32, Op::Select, {hidden, append_number(at, 0), greatest});
  }

  void build_ranges() {
    number_.resize(kernel_.stages.size());
    rows_of_.resize(kernel_.stages.size());
    for (StageId s : kernel_.stages.ids()) {
      if (!in_ranges_[s] && s != form_.result) continue;
      Stage made = renamed(s == form_.result ? weighted_ : stage(s), rows_of_[s]);
      if (s == form_.greatest) {
        made.result = ended(made, made.result, made.reduction->loop);
      } else if (s == form_.weights) {
        made = with(made, [&](Stage& at, InstId old, InstId now) {
          if (old == form_.score) return ended(at, now, at.loops.back());
          return old == form_.read_greatest ? or_zero(at, now) : now;
        });
      }
      made.target = LocalTarget{};
      number_[s] = out_.ranges.stages.push_back(std::move(made));
    }
    for (StageId s : {form_.greatest, form_.total, form_.result}) leave(s);
    finish(out_.ranges);
  }

  // Stores a stage's result per range, with dims [kept outer loops, ranges, its own loops].
  void leave(StageId number) {
    Kernel& made = out_.ranges;
    const StageId local = number_[number];
    Stage& source = made.stages[local];
    Dims dims;
    std::vector<Expr> index;
    std::vector<LoopId> loops;
    for (LoopId loop : outer_loops(made)) loops.push_back(loop);
    loops.insert(loops.end(), source.loops.begin(), source.loops.end());
    for (LoopId loop : loops) {
      dims.push_back(extent_of(made, loop));
      index.push_back(index_of(made, loop));
    }
    const ParamId left = between(out_.between.size());
    out_.between.push_back({DType::F32, dims, false});
    const OutputTarget target{ranges_.param(left, out_.between.back(), true), index};
    if (number == form_.result) {  // no other stage reads it
      source.target = target;
      return;
    }
    const std::vector<LoopId> own = source.loops;
    Stage store{.dtype = DType::F32,
                .loops = own,
                .reduction = {},
                .body = {{DType::F32, LocalInst{local, indices_of(made, own)}}},
                .result = InstId{0},
                .target = target};
    made.stages.push_back(std::move(store));
  }

  // ---- The second kernel

  // Loads what a stage of the first kernel has stored, for the current row and the range at
  // `range_loop`.
  InstId load_left(Stage& at, StageId number, size_t left, LoopId range_loop) {
    std::vector<Expr> index = indices_of(kernel_, kept_);
    index.push_back(index_of(range_loop, n_ranges_));
    for (LoopId row : rows_of_[number]) index.push_back(index_of(kernel_, row));
    for (LoopId loop : stage(number).loops) index.push_back(index_of(kernel_, loop));
    const ParamId from = together_.param(between(left), out_.between[left], false);
    return append(at, DType::F32, LoadInst{from, plain(index)});
  }

  // Σ over ranges of factor · stored result of a stage; `weight` is how the original stage reads
  // the weight at a key.
  Stage sum_of_ranges(StageId number, size_t left, const LocalInst& weight, StageId factors,
                      LoopId range) {
    Stage sum{.dtype = DType::F32,
              .loops = stage(number).loops,
              .reduction = Reduction{.reducer = Reducer::Sum, .loop = range},
              .body = {},
              .result = {},
              .target = LocalTarget{}};
    std::vector<Expr> index = weight.index;
    index.back() = index_of(range, n_ranges_);
    const InstId factor = append(sum, DType::F32, LocalInst{factors, index});
    const InstId part = load_left(sum, number, left, range);
    sum.result = append_op(sum, DType::F32, Op::Mul, {factor, part});
    return sum;
  }

  void build_together() {
    Kernel& made = out_.together;
    made.n_outer = kernel_.n_outer;
    made.loops = kernel_.loops;
    const LoopId range = made.loops.push_back({n_ranges_});
    const Stage& greatest = stage(form_.greatest);
    Stage most{.dtype = DType::F32,
               .loops = greatest.loops,
               .reduction = Reduction{.reducer = Reducer::Max, .loop = range},
               .body = {},
               .result = {},
               .target = LocalTarget{}};
    most.result = load_left(most, form_.greatest, 0, range);
    const StageId most_of_all = made.stages.push_back(std::move(most));

    // The factor of a range is the weight of a key with the range's maximum score.
    Stage factors = with(stage(form_.weights), [&](Stage& at, InstId old, InstId now) {
      return old == form_.score ? load_left(at, form_.greatest, 0, range) : now;
    });
    factors.loops.back() = range;
    factors = pruned(factors);
    for (Inst& inst : factors.body) {
      if (auto* local = std::get_if<LocalInst>(&inst.what)) local->stage = most_of_all;
    }
    const StageId by = made.stages.push_back(std::move(factors));

    auto weight = [&](StageId number, InstId id) {
      return std::get<LocalInst>(stage(number).body[id.index()].what);
    };
    IdVector<StageId, StageId> number(kernel_.stages.size());
    number[form_.total] = made.stages.push_back(
        sum_of_ranges(form_.total, 1, weight(form_.total, stage(form_.total).result), by, range));
    const StageId sum = made.stages.push_back(
        sum_of_ranges(form_.result, 2, weight(form_.result, form_.weight), by, range));
    for (StageId s : kernel_.stages.ids()) {
      const bool result = s == form_.result;
      if (!in_together_[s] && !result) continue;
      if (result) number[s] = sum;  // the sum over ranges, which scaled_ reads
      Stage next = after(result ? scaled_ : kernel_.stages[s], number);
      number[s] = made.stages.push_back(std::move(next));
    }
    finish(made);
  }

  Stage after(Stage at, const IdVector<StageId, StageId>& number) {
    for (Inst& inst : at.body) {
      if (auto* load = std::get_if<LoadInst>(&inst.what)) {
        load->param = together_.param(load->param, param(load->param), false);
      } else if (auto* local = std::get_if<LocalInst>(&inst.what)) {
        local->stage = number[local->stage];
      }
    }
    if (auto* output = std::get_if<OutputTarget>(&at.target)) {
      output->param = together_.param(output->param, param(output->param), true);
    }
    return at;
  }

  const Kernel& kernel_;
  SoftmaxForm form_;
  int64_t most_keys_;  // of a range
  SplitSoftmax out_;
  Half ranges_, together_;
  Expr begin_ = 0, count_;           // the visible keys: the first, and how many
  Expr n_ranges_, length_;           // number of ranges, and keys per range
  std::vector<LoopId> kept_, rows_;  // outer loops: those that keys depend on, and the others
  Stage weighted_, scaled_;          // the weighted sum, and the scales applied to it
  IdVector<StageId, bool> in_ranges_, in_together_;
  // By loop of the original kernel: its number in the first kernel, and its index there: in local
  // buffers, as a position among all keys, and clamped to the tensor.
  IdVector<LoopId, LoopId> name_;
  IdVector<LoopId, Expr> own_index_, position_, in_tensor_;
  Expr before_;                        // keys of the ranges before this one
  IdVector<StageId, StageId> number_;  // by stage of the original: the one of the first kernel
  IdVector<StageId, std::vector<LoopId>>
      rows_of_;  // by stage of the original: row loops it depends on
};

}  // namespace

SplitForm split_form(const Kernel& kernel, const SoftmaxForm& form) {
  return Splitter(kernel, form, kKeysOfRange).form();
}

std::optional<SplitSoftmax> split_softmax(const Kernel& kernel, const SoftmaxForm& form,
                                          int64_t keys_of_range) {
  return Splitter(kernel, form, keys_of_range).run();
}

}  // namespace luminal::kernel
