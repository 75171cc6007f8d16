#include "luminal/kernel/recognise/quantised_form.h"

#include <algorithm>
#include <functional>

#include "luminal/kernel/ir/inst_uses.h"

namespace luminal::kernel {
namespace {

// Blocks are no longer than this, so that sums of integers stay small, and no shorter than what
// pays for a slope (scale).
constexpr int64_t kLongestBlock = 256;
constexpr int64_t kShortestBlock = 8;

bool is_small_integer(DType dtype) {
  return dtype == DType::I8 || dtype == DType::U8 || dtype == DType::U4;
}

// Σ slope · integer + offset, all as instructions.
struct Linear {
  struct Term {
    InstId integer, slope;
  };
  std::vector<Term> terms;
  std::optional<InstId> offset;
};

class Decomposer {
 public:
  Decomposer(const Kernel& kernel, const Contraction& contraction, int64_t block)
      : kernel_(kernel),
        stage_(kernel.stages[contraction.stage]),
        k_(contraction.k),
        block_(block) {}

  std::optional<QuantisedForm> run(InstId factor) {
    const std::optional<InstId> before = before_rounding(factor);
    const std::optional<Linear> linear = decompose(before.value_or(factor));
    if (!linear || linear->terms.empty()) return std::nullopt;
    QuantisedForm form{.block = block_, .terms = {}, .offset = {}, .rounded = before.has_value()};
    for (const Linear::Term& term : linear->terms) {
      form.terms.push_back({term.integer, factor_stage(stage_, term.slope)});
    }
    if (linear->offset) form.offset = factor_stage(stage_, *linear->offset);
    return form;
  }

 private:
  // The value before it was rounded to bf16 and cast back to f32.
  std::optional<InstId> before_rounding(InstId id) const {
    auto cast_from = [&](InstId of, DType to) -> std::optional<InstId> {
      const Inst& inst = stage_.body[of.index()];
      const auto* op = std::get_if<OpInst>(&inst.what);
      const bool casts = op != nullptr && op->op == Op::Cast && inst.dtype == to;
      return casts ? std::optional(op->operands[0]) : std::nullopt;
    };
    const std::optional<InstId> rounded = cast_from(id, DType::F32);
    return rounded ? cast_from(*rounded, DType::BF16) : std::nullopt;
  }

  InstId add(const Inst& inst) {
    stage_.body.push_back(inst);
    return InstId::at(stage_.body.size() - 1);
  }
  InstId constant(double value) { return add({DType::F32, ConstInst{.real = value}}); }
  InstId apply(Op op, InstId a, InstId b) { return add({DType::F32, OpInst{op, {a, b}}}); }

  bool is_slow(InstId id) const {
    const std::vector<bool> needed = needed_for(stage_, id);
    for (size_t k = 0; k < needed.size(); ++k) {
      if (needed[k] && !is_same_in_blocks(kernel_, stage_.body[k], k_, block_)) return false;
    }
    return true;
  }

  std::optional<Linear> decompose(InstId id) {
    const Inst inst = stage_.body[id.index()];
    if (inst.dtype != DType::F32) return std::nullopt;
    if (is_slow(id)) return Linear{.terms = {}, .offset = id};
    const auto* op = std::get_if<OpInst>(&inst.what);
    if (op == nullptr) return std::nullopt;
    if (op->op == Op::Cast) return of_integer(op->operands[0]);
    if (op->op != Op::Add && op->op != Op::Mul) return std::nullopt;
    std::optional<Linear> a = decompose(op->operands[0]);
    std::optional<Linear> b = a ? decompose(op->operands[1]) : std::nullopt;
    if (!a || !b) return std::nullopt;
    return op->op == Op::Add ? sum(*a, *b) : product(*a, *b);
  }

  // A cast of a loaded integer, perhaps widened and with a constant added before.
  std::optional<Linear> of_integer(InstId id) {
    double added = 0;
    while (true) {
      const Inst& inst = stage_.body[id.index()];
      if (std::holds_alternative<LoadInst>(inst.what)) break;
      const auto* op = std::get_if<OpInst>(&inst.what);
      if (op == nullptr || bits(inst.dtype) < 16 || is_float(inst.dtype)) return std::nullopt;
      if (op->op == Op::Cast) {
        id = op->operands[0];
        continue;
      }
      if (op->op != Op::Add || bits(inst.dtype) < 32) return std::nullopt;
      const auto* number = std::get_if<ConstInst>(&stage_.body[op->operands[1].index()].what);
      if (number == nullptr || std::abs(number->integer) > (1 << 16)) return std::nullopt;
      added += static_cast<double>(number->integer);
      id = op->operands[0];
    }
    if (!is_small_integer(stage_.body[id.index()].dtype)) return std::nullopt;
    Linear linear{.terms = {{id, constant(1)}}, .offset = {}};
    if (added != 0) linear.offset = constant(added);
    return linear;
  }

  std::optional<Linear> sum(Linear a, const Linear& b) {
    for (const Linear::Term& term : b.terms) {
      auto same = std::ranges::find(a.terms, term.integer, &Linear::Term::integer);
      if (same == a.terms.end()) {
        a.terms.push_back(term);
      } else {
        same->slope = apply(Op::Add, same->slope, term.slope);
      }
    }
    if (b.offset) a.offset = a.offset ? apply(Op::Add, *a.offset, *b.offset) : *b.offset;
    return a;
  }

  std::optional<Linear> product(Linear a, Linear b) {
    if (a.terms.empty()) std::swap(a, b);
    if (!b.terms.empty()) return std::nullopt;
    for (Linear::Term& term : a.terms) term.slope = apply(Op::Mul, term.slope, *b.offset);
    if (a.offset) a.offset = apply(Op::Mul, *a.offset, *b.offset);
    return a;
  }

  const Kernel& kernel_;
  Stage stage_;  // the contraction's, with the instructions of slopes and offsets appended
  const LoopId k_;
  const int64_t block_;
};

}  // namespace

bool is_same_in_blocks(const Kernel& kernel, const Inst& inst, LoopId k, int64_t block) {
  IdVector<LoopId, Expr> split;
  for (LoopId loop : kernel.loops.ids()) split.push_back(index_of(kernel, loop));
  // Two loops in place of k: over the blocks, and inside one.
  const LoopId blocks = kernel.loops.next(), inside{blocks.value + 1};
  split[k] = index_of(blocks, extent_of(kernel, k) / block) * block + index_of(inside, block);
  auto is_same = [&](Expr e) { return !uses_loop(e.substitute_indices(split.items()), inside); };
  if (const auto* load = std::get_if<LoadInst>(&inst.what)) {
    return std::ranges::all_of(load->index,
                               [&](const Index& at) { return at.value || is_same(at.expr); });
  }
  if (const auto* iota = std::get_if<IotaInst>(&inst.what)) return is_same(iota->expr);
  return !std::holds_alternative<LocalInst>(inst.what);
}

bool has_small_integers(const Kernel& kernel, const Contraction& contraction) {
  const Stage& stage = kernel.stages[contraction.stage];
  const std::vector<bool> needed = needed_for(stage, contraction.right);
  for (size_t k = 0; k < needed.size(); ++k) {
    if (needed[k] && is_small_integer(stage.body[k].dtype) &&
        std::holds_alternative<LoadInst>(stage.body[k].what)) {
      return true;
    }
  }
  return false;
}

std::optional<QuantisedForm> quantised_form(const Kernel& kernel, const Contraction& contraction) {
  const std::optional<int64_t> extent = extent_of(kernel, contraction.k).to_int();
  if (!has_small_integers(kernel, contraction) || !extent || *extent == 0) return std::nullopt;
  for (int64_t block = kLongestBlock; block >= kShortestBlock; block /= 2) {
    if (*extent % block != 0) continue;
    auto form = Decomposer(kernel, contraction, block).run(contraction.right);
    if (form) return form;
  }
  return std::nullopt;
}

}  // namespace luminal::kernel
