#include "luminal/pytorch/aten/arguments.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"

namespace luminal::pytorch {
namespace {

std::optional<Expr> size_of(const Value& value) {
  if (const auto* size = std::get_if<Expr>(&value.value)) return *size;
  if (const auto* flag = std::get_if<bool>(&value.value)) return Expr(*flag ? 1 : 0);
  return std::nullopt;
}

}  // namespace

void Arguments::wrong(size_t i, const char* wanted) const {
  throw UserError(fmt::format("its argument {} isn't {}", i + 1, wanted));
}

Tensor Arguments::tensor(size_t i) const {
  if (const auto* tensor = std::get_if<Tensor>(&values_[i].value)) return *tensor;
  wrong(i, "a tensor");
}

std::optional<Tensor> Arguments::maybe_tensor(size_t i) const {
  if (is_none(i)) return std::nullopt;
  return tensor(i);
}

const Value::List& Arguments::list(size_t i) const {
  if (const auto* list = std::get_if<Value::List>(&values_[i].value)) return *list;
  wrong(i, "a list");
}

std::vector<Tensor> Arguments::tensors(size_t i) const {
  std::vector<Tensor> all;
  for (const Value& each : list(i)) {
    const auto* tensor = std::get_if<Tensor>(&each.value);
    if (tensor == nullptr) wrong(i, "a list of tensors");
    all.push_back(*tensor);
  }
  if (all.empty()) wrong(i, "a list of at least one tensor");
  return all;
}

Scalar Arguments::scalar(size_t i) const {
  const auto& value = values_[i].value;
  if (const auto* flag = std::get_if<bool>(&value)) return Scalar(*flag);
  if (const auto* real = std::get_if<double>(&value)) return Scalar(*real);
  if (const auto* size = std::get_if<Expr>(&value)) {
    if (const auto integer = size->to_int()) return Scalar(*integer);
    return Scalar(*size);
  }
  wrong(i, "a number");
}

std::optional<Scalar> Arguments::maybe_scalar(size_t i) const {
  if (is_none(i)) return std::nullopt;
  return scalar(i);
}

double Arguments::real(size_t i) const {
  const Scalar number = scalar(i);
  if (number.kind == Scalar::Kind::Symbolic) wrong(i, "a number that is known");
  return number.real;
}

std::optional<double> Arguments::maybe_real(size_t i) const {
  if (is_none(i)) return std::nullopt;
  return real(i);
}

bool Arguments::flag(size_t i) const {
  if (const auto* flag = std::get_if<bool>(&values_[i].value)) return *flag;
  if (const auto size = size_of(values_[i]); size && size->to_int()) return !size->is(0);
  wrong(i, "a bool");
}

Expr Arguments::size(size_t i) const {
  if (const auto size = size_of(values_[i])) return *size;
  wrong(i, "an integer");
}

std::optional<Expr> Arguments::maybe_size(size_t i) const {
  if (is_none(i)) return std::nullopt;
  return size(i);
}

int Arguments::integer(size_t i) const {
  const auto value = size(i).to_int();
  if (!value || *value != static_cast<int>(*value)) wrong(i, "an integer that is known");
  return static_cast<int>(*value);
}

std::optional<int> Arguments::maybe_integer(size_t i) const {
  if (is_none(i)) return std::nullopt;
  return integer(i);
}

Dims Arguments::sizes(size_t i) const {
  if (const auto one = size_of(values_[i])) return {*one};
  Dims dims;
  for (const Value& each : list(i)) {
    const auto size = size_of(each);
    if (!size) wrong(i, "a list of integers");
    dims.push_back(*size);
  }
  return dims;
}

std::vector<int> Arguments::integers(size_t i) const {
  std::vector<int> all;
  for (Expr each : sizes(i)) {
    const auto value = each.to_int();
    if (!value || *value != static_cast<int>(*value)) {
      wrong(i, "a list of integers that are known");
    }
    all.push_back(static_cast<int>(*value));
  }
  return all;
}

Axes Arguments::axes(size_t i) const {
  if (is_none(i)) return {};
  return Axes(integers(i));
}

std::string Arguments::word(size_t i) const {
  if (const auto* word = std::get_if<std::string>(&values_[i].value)) return *word;
  wrong(i, "a word");
}

std::optional<DType> Arguments::maybe_dtype(size_t i) const {
  if (is_none(i)) return std::nullopt;
  if (const auto* dtype = std::get_if<DType>(&values_[i].value)) return *dtype;
  wrong(i, "a dtype");
}

}  // namespace luminal::pytorch
