#include "luminal/driver/report/op_words.h"

#include <algorithm>

namespace luminal {
namespace {

class Words {
 public:
  Words(const NodeForms& forms, std::span<const NodeId> computed)
      : forms_(forms), computed_(computed) {}

  template <typename Predicate>
  bool any(Predicate predicate) const {
    return std::ranges::any_of(computed_, predicate);
  }
  bool has(Op op) const {
    return any([&](NodeId id) { return forms_.is(id, op); });
  }
  int64_t count(Reducer reducer) const {
    return std::ranges::count_if(computed_, [&](NodeId id) {
      return forms_.is(id, Op::Reduce) && forms_.node(id).as<ReduceAttr>().reducer == reducer;
    });
  }

  bool is_softmax() const { return has(Op::Exp2) && count(Reducer::Max) > 0; }
  // 1 / √x, of a sum that may come from another kernel.
  bool is_norm() const {
    return any([&](NodeId id) {
      return forms_.is(id, Op::Recip) &&
             forms_.is(forms_.behind(forms_.node(id).inputs[0]), Op::Sqrt);
    });
  }
  // By a number.
  bool is_scaled(NodeId id) const { return forms_.scaled(forms_.behind(id)).factor != 1; }

 private:
  const NodeForms& forms_;
  std::span<const NodeId> computed_;
};

}  // namespace

OpWords op_words(const NodeForms& forms, std::span<const NodeId> computed,
                 std::span<const NodeId> results, size_t n_matrices) {
  const Words words(forms, computed);
  const bool looks_up = words.has(Op::Gather);
  const bool multiplies = n_matrices > (looks_up ? 1 : 0);
  OpWords found;
  std::vector<std::string>& after = found.after;
  if (looks_up) after.push_back("lookup");
  if (words.is_norm()) (multiplies ? found.before : after).push_back("norm");
  if (words.has(Op::Sin)) after.push_back("rope");
  if (words.is_softmax()) after.push_back(words.count(Reducer::Sum) > 2 ? "attention" : "softmax");
  if (words.any([&](NodeId id) { return forms.silu_operand(id).has_value(); })) {
    after.push_back("silu");
  } else if (words.any([&](NodeId id) { return forms.sigmoid_power(id).has_value(); })) {
    after.push_back("sigmoid");
  }
  for (NodeId id : results) {
    const Op op = forms.node(id).op;
    const bool combines =
        op == Op::Add || (op == Op::Mul && !forms.silu_operand(id) && !words.is_scaled(id));
    const char* word = op == Op::Mul ? "mul" : "add";
    if (combines && (after.empty() || after.back() != word)) after.push_back(word);
  }
  if (found.before.empty() && after.empty() && !multiplies) {
    if (words.count(Reducer::Sum) > 0) after.push_back("sum");
    if (words.count(Reducer::Max) > 0) after.push_back("max");
  }
  return found;
}

}  // namespace luminal
