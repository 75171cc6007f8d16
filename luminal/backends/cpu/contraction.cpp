#include "luminal/backends/cpu/contraction.h"

namespace luminal::backends::cpu {
namespace {

using kernel::Inst;
using kernel::InstId;

class Matcher {
 public:
  explicit Matcher(const kernel::Stage& stage) : body_(stage.body), uses_(stage.body.size()) {
    for (const Inst& inst : body_) {
      if (const auto* op = std::get_if<kernel::OpInst>(&inst.what)) {
        for (InstId id : op->operands) ++uses_[id.index()];
      } else if (const auto* load = std::get_if<kernel::LoadInst>(&inst.what)) {
        for (const kernel::Index& index : load->index) {
          if (index.value) ++uses_[index.value->index()];
        }
      }
    }
    ++uses_[stage.result.index()];
  }

  // The op of an instruction on f32, null for others: of f64 one expects every rounding, as in the
  // interpreter.
  const kernel::OpInst* op_of(InstId id, Op op) const {
    const Inst& inst = body_[id.index()];
    const auto* found = std::get_if<kernel::OpInst>(&inst.what);
    const bool fits = found != nullptr && inst.dtype == DType::F32 && found->op == op;
    return fits ? found : nullptr;
  }

  // The product that `id` is, or is the negative of; used by nothing but its user.
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

 private:
  bool is_minus_one(InstId id) const {
    const auto* constant = std::get_if<kernel::ConstInst>(&body_[id.index()].what);
    return constant != nullptr && constant->real == -1;
  }

  const std::vector<Inst>& body_;
  std::vector<int> uses_;
};

}  // namespace

Contraction contract(const kernel::Stage& stage) {
  const Matcher matcher(stage);
  Contraction result{.adds = std::vector<std::optional<FusedAdd>>(stage.body.size()),
                     .reduced = {}};
  for (size_t k = 0; k < stage.body.size(); ++k) {
    const kernel::OpInst* add = matcher.op_of({static_cast<uint32_t>(k)}, Op::Add);
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
