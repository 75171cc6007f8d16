#include "luminal/kernel/recognise/softmax_form.h"

#include <algorithm>
#include <cmath>

#include "luminal/kernel/ir/inst_uses.h"

namespace luminal::kernel {
namespace {

class SoftmaxFinder {
 public:
  explicit SoftmaxFinder(const Kernel& kernel) : kernel_(kernel) {}

  std::optional<SoftmaxForm> run() {
    for (StageId stage : kernel_.stages.ids()) {
      form_ = {};
      form_.greatest = stage;
      if (reduces(form_.greatest, Reducer::Max) && find_weights() && find_sums() && find_keys()) {
        return form_;
      }
    }
    return std::nullopt;
  }

 private:
  const Stage& stage(StageId id) const { return kernel_.stages[id]; }
  Expr index(LoopId loop) const { return index_of(kernel_, loop); }

  bool reduces(StageId id, Reducer reducer) const {
    const Stage& at = stage(id);
    return at.reduction && !at.reduction->running && at.reduction->reducer == reducer &&
           at.dtype == DType::F32;
  }

  std::vector<StageId> readers_of(StageId id) const {
    std::vector<StageId> readers;
    for (StageId s : kernel_.stages.ids()) {
      const bool reads = std::ranges::any_of(kernel_.stages[s].body, [&](const Inst& inst) {
        const auto* local = std::get_if<LocalInst>(&inst.what);
        return local != nullptr && local->stage == id;
      });
      if (reads) readers.push_back(s);
    }
    return readers;
  }

  // ---- Weights

  static const OpInst* as_op(const Stage& at, InstId id, Op op) {
    const auto* inst = std::get_if<OpInst>(&at.body[id.index()].what);
    return inst != nullptr && inst->op == op ? inst : nullptr;
  }

  static std::optional<double> number(const Stage& at, InstId id) {
    const auto* constant = std::get_if<ConstInst>(&at.body[id.index()].what);
    return constant == nullptr ? std::nullopt : std::optional(constant->real);
  }

  // The other factor of a product with a constant that `fits`.
  template <typename Fits>
  static std::optional<InstId> times(const Stage& at, InstId id, Fits fits) {
    const OpInst* product = as_op(at, id, Op::Mul);
    if (product == nullptr) return std::nullopt;
    for (size_t k : {size_t{0}, size_t{1}}) {
      const auto factor = number(at, product->operands[k]);
      if (factor && fits(*factor)) return product->operands[1 - k];
    }
    return std::nullopt;
  }

  bool find_weights() {
    const std::vector<StageId> readers = readers_of(form_.greatest);
    if (readers.size() != 1) return false;
    form_.weights = readers[0];
    const Stage &weights = stage(form_.weights), &greatest = stage(form_.greatest);
    if (weights.reduction || weights.dtype != DType::F32) return false;
    if (weights.loops.size() != greatest.loops.size() + 1) return false;
    if (!std::equal(greatest.loops.begin(), greatest.loops.end(), weights.loops.begin())) {
      return false;
    }
    const OpInst* power = as_op(weights, weights.result, Op::Exp2);
    if (power == nullptr) return false;
    const auto positive = [](double c) { return c > 0 && std::isfinite(c); };
    const InstId exponent = power->operands[0];
    const InstId shifted = times(weights, exponent, positive).value_or(exponent);
    const OpInst* sum = as_op(weights, shifted, Op::Add);
    if (sum == nullptr) return false;
    for (size_t k : {size_t{0}, size_t{1}}) {
      const auto taken = times(weights, sum->operands[k], [](double c) { return c == -1; });
      if (!taken || !is_greatest(weights, *taken)) continue;
      form_.score = sum->operands[1 - k];
      return same(greatest, greatest.result, weights, form_.score);
    }
    return false;
  }

  // Whether a value is the maximum score, or 0 where that is −inf.
  bool is_greatest(const Stage& weights, InstId id) {
    if (const OpInst* choice = as_op(weights, id, Op::Select)) {
      const OpInst* none = as_op(weights, choice->operands[0], Op::Equal);
      if (none == nullptr || number(weights, choice->operands[1]) != 0.0) return false;
      for (size_t k : {size_t{0}, size_t{1}}) {
        const auto limit = number(weights, none->operands[k]);
        if (!limit || !std::isinf(*limit) || *limit > 0) continue;
        id = choice->operands[2];
        return none->operands[1 - k] == id && is_greatest(weights, id);
      }
      return false;
    }
    const auto* local = std::get_if<LocalInst>(&weights.body[id.index()].what);
    if (local == nullptr || local->stage != form_.greatest) return false;
    const std::vector<LoopId>& loops = stage(form_.greatest).loops;
    for (size_t d = 0; d < loops.size(); ++d) {
      if (local->index[d] != index(loops[d])) return false;
    }
    form_.read_greatest = id;
    return true;
  }

  // Whether x of `greatest` and y of `weights` compute the same value at the same key.
  bool same(const Stage& a, InstId x, const Stage& b, InstId y) const {
    const Inst &p = a.body[x.index()], &q = b.body[y.index()];
    if (p.dtype != q.dtype || p.what.index() != q.what.index()) return false;
    const Expr from = index(a.reduction->loop), to = index(b.loops.back());
    auto equal = [&](Expr e, Expr f) { return e.substitute(from, to) == f; };
    if (const auto* op = std::get_if<OpInst>(&p.what)) {
      const auto& other = std::get<OpInst>(q.what);
      if (op->op != other.op) return false;
      for (size_t k = 0; k < op->operands.size(); ++k) {
        if (!same(a, op->operands[k], b, other.operands[k])) return false;
      }
      return true;
    }
    if (const auto* constant = std::get_if<ConstInst>(&p.what)) {
      const auto& other = std::get<ConstInst>(q.what);
      return constant->real == other.real && constant->integer == other.integer;
    }
    if (const auto* iota = std::get_if<IotaInst>(&p.what)) {
      return equal(iota->expr, std::get<IotaInst>(q.what).expr);
    }
    if (const auto* local = std::get_if<LocalInst>(&p.what)) {
      const auto& other = std::get<LocalInst>(q.what);
      return local->stage == other.stage && std::ranges::equal(local->index, other.index, equal);
    }
    const auto &load = std::get<LoadInst>(p.what), &other = std::get<LoadInst>(q.what);
    return load.param == other.param &&
           std::ranges::equal(load.index, other.index, [&](const Index& i, const Index& j) {
             if (i.value.has_value() != j.value.has_value()) return false;
             return i.value ? same(a, *i.value, b, *j.value) : equal(i.expr, j.expr);
           });
  }

  // ---- Sums

  bool find_sums() {
    const std::vector<StageId> readers = readers_of(form_.weights);
    if (readers.size() != 2) return false;
    for (StageId reader : readers) {
      if (!reduces(reader, Reducer::Sum)) return false;
      const bool plain = reads_weight(reader, stage(reader).result);
      if (plain && !form_.total.valid()) {
        form_.total = reader;
      } else {
        form_.result = reader;
      }
    }
    return form_.total.valid() && form_.result.valid() &&
           find_factors(stage(form_.result).result) && form_.weight.valid() &&
           !form_.values.empty();
  }

  // Whether a value is the weight at the key that is summed over, and nothing else.
  bool reads_weight(StageId reader, InstId id) const {
    const Stage& at = stage(reader);
    const auto* local = std::get_if<LocalInst>(&at.body[id.index()].what);
    return local != nullptr && local->stage == form_.weights &&
           local->index.back() == index(at.reduction->loop);
  }

  bool find_factors(InstId id) {
    const Stage& at = stage(form_.result);
    if (at.body[id.index()].dtype != DType::F32) return false;
    if (reads_weight(form_.result, id)) {
      if (form_.weight.valid()) return false;
      form_.weight = id;
      return true;
    }
    const InstUses uses = uses_of(kernel_, at, id);
    if (!uses.loops.contains(at.reduction->loop)) {
      form_.scales.push_back(id);
      return true;
    }
    if (!uses.stages.contains(form_.weights)) {
      form_.values.push_back(id);
      return true;
    }
    const OpInst* product = as_op(at, id, Op::Mul);
    return product != nullptr && find_factors(product->operands[0]) &&
           find_factors(product->operands[1]);
  }

  // ---- Keys

  // Finds all loops over keys. A buffer dim over keys must be indexed by such a loop alone, and
  // only the stages above may reduce over keys.
  bool find_keys() {
    form_.keys = {stage(form_.greatest).reduction->loop, stage(form_.weights).loops.back(),
                  stage(form_.total).reduction->loop, stage(form_.result).reduction->loop};
    bool grows = true;
    while (grows) {
      grows = false;
      for (const Stage& at : kernel_.stages) {
        for (const Inst& inst : at.body) {
          const auto* local = std::get_if<LocalInst>(&inst.what);
          if (local == nullptr) continue;
          if (!add_keys(*local, grows)) return false;
        }
      }
    }
    const Expr extent = extent_of(kernel_, form_.keys[0]);
    for (LoopId loop : form_.keys) {
      if (is_outer(kernel_, loop) || extent_of(kernel_, loop) != extent) return false;
    }
    for (StageId s : kernel_.stages.ids()) {
      const Stage& at = stage(s);
      const bool known = s == form_.greatest || s == form_.total || s == form_.result;
      if (at.reduction && form_.is_key(at.reduction->loop) && !known) return false;
      if (known && std::ranges::any_of(at.loops, [&](LoopId l) { return form_.is_key(l); })) {
        return false;
      }
    }
    return true;
  }

  bool add_keys(const LocalInst& local, bool& grows) {
    const std::vector<LoopId> dims = buffer_loops(stage(local.stage));
    for (size_t d = 0; d < dims.size(); ++d) {
      const Expr e = local.index[d];
      LoopId at;  // the loop whose index `e` is
      bool uses_key = form_.is_key(dims[d]);
      for (LoopId loop : kernel_.loops.ids()) {
        if (!uses_loop(e, loop)) continue;
        if (e == index(loop)) at = loop;
        uses_key |= form_.is_key(loop);
      }
      if (!uses_key) continue;
      if (!at.valid()) return false;
      for (LoopId loop : {at, dims[d]}) {
        if (form_.is_key(loop)) continue;
        form_.keys.push_back(loop);
        grows = true;
      }
    }
    return true;
  }

  const Kernel& kernel_;
  SoftmaxForm form_;
};

}  // namespace

std::optional<SoftmaxForm> softmax_form(const Kernel& kernel) {
  return SoftmaxFinder(kernel).run();
}

}  // namespace luminal::kernel
