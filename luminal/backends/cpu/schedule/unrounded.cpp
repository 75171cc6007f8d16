#include "luminal/backends/cpu/schedule/unrounded.h"

namespace luminal::backends::cpu {
namespace {

using kernel::Inst;
using kernel::InstId;

// Ops whose result on 16-bit floats is rounded, so that keeping it in f32 gains precision.
bool rounds(Op op) {
  return op_class(op) == OpClass::Unary || op == Op::Add || op == Op::Mul || op == Op::Cast;
}

class Matcher {
 public:
  explicit Matcher(const kernel::Stage& stage)
      : body_(stage.body), uses_(stage.body.size()), user_(stage.body.size()) {
    for (const Inst& inst : body_) {
      if (const auto* op = std::get_if<kernel::OpInst>(&inst.what)) {
        for (InstId id : op->operands) {
          ++uses_[id.index()];
          user_[id.index()] = &inst;
        }
      } else if (const auto* load = std::get_if<kernel::LoadInst>(&inst.what)) {
        for (const kernel::Index& index : load->index) {
          if (index.value) ++uses_[index.value->index()];
        }
      }
    }
    ++uses_[stage.result.index()];
  }

  // The op of an instruction on f32, null for others: f64 must round every result, as the
  // interpreter does.
  const kernel::OpInst* op_of(InstId id, Op op) const {
    const Inst& inst = body_[id.index()];
    const auto* found = std::get_if<kernel::OpInst>(&inst.what);
    const bool fits = found != nullptr && inst.dtype == DType::F32 && found->op == op;
    return fits ? found : nullptr;
  }

  // The product that `id`, used only once, is or is the negative of.
  std::optional<Product> product(InstId id) const {
    const kernel::OpInst* mul = uses_[id.index()] == 1 ? op_of(id, Op::Mul) : nullptr;
    if (mul == nullptr) return std::nullopt;
    const InstId a = mul->operands[0], b = mul->operands[1];
    for (auto [value, factor] : {std::pair(a, b), std::pair(b, a)}) {
      if (!is_minus_one(factor)) continue;
      std::optional<Product> inner = product(value);
      if (!inner) return std::nullopt;  // a subtraction
      inner->negative = !inner->negative;
      return inner;
    }
    return Product{.a = a, .b = b};
  }

  // Which f16 and bf16 values aren't rounded. Negating a rounded value is exact.
  std::vector<bool> unrounded() const {
    std::vector<bool> result(body_.size());
    for (size_t k = 0; k < body_.size(); ++k) {
      const auto* op = std::get_if<kernel::OpInst>(&body_[k].what);
      if (op == nullptr || !is_half(body_[k].dtype)) continue;
      result[k] = is_taken_in(k, op->op);
      if (op->op != Op::Mul) continue;
      for (size_t side : {size_t{0}, size_t{1}}) {
        const size_t other = op->operands[1 - side].index();
        if (is_minus_one(op->operands[side]) && !result[other]) result[k] = true;
      }
    }
    return result;
  }

 private:
  // Whether the only use is a sum or product of the same dtype.
  bool is_taken_in(size_t k, Op op) const {
    if (!rounds(op) || uses_[k] != 1 || user_[k] == nullptr) return false;
    const Op by = std::get<kernel::OpInst>(user_[k]->what).op;
    return user_[k]->dtype == body_[k].dtype && (by == Op::Add || by == Op::Mul);
  }

  bool is_minus_one(InstId id) const {
    const auto* constant = std::get_if<kernel::ConstInst>(&body_[id.index()].what);
    return constant != nullptr && constant->real == -1;
  }

  const std::vector<Inst>& body_;
  std::vector<int> uses_;
  std::vector<const Inst*> user_;  // the last op that uses it
};

}  // namespace

Unrounded unrounded_values(const kernel::Stage& stage) {
  const Matcher matcher(stage);
  Unrounded result{.adds = std::vector<std::optional<FusedAdd>>(stage.body.size()),
                   .reduced = {},
                   .unrounded = matcher.unrounded()};
  for (size_t k = 0; k < stage.body.size(); ++k) {
    const kernel::OpInst* add = matcher.op_of(InstId::at(k), Op::Add);
    if (add == nullptr) continue;
    const std::optional<Product> left = matcher.product(add->operands[0]);
    const std::optional<Product> right = matcher.product(add->operands[1]);
    if (left.has_value() == right.has_value()) continue;
    result.adds[k] = left ? FusedAdd{*left, add->operands[1]} : FusedAdd{*right, add->operands[0]};
  }
  const bool sums = stage.reduction && stage.reduction->reducer == Reducer::Sum;
  if (sums && !stage.body.empty()) {
    const DType dtype = stage.body[stage.result.index()].dtype;
    if (dtype == stage.dtype) result.reduced = matcher.product(stage.result);
  }
  return result;
}

}  // namespace luminal::backends::cpu
