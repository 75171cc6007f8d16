// Arguments: what a call was given, by the order of the operator's parameters.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "luminal/graph/options.h"
#include "luminal/graph/scalar.h"
#include "luminal/graph/tensor.h"

namespace luminal::pytorch {

// A value while a program is imported: what an input or a call gave, or an argument.
struct Value {
  using List = std::vector<Value>;
  Value() = default;
  template <typename T>
    requires(!std::same_as<T, Value>)
  Value(T of) : value(std::move(of)) {}  // NOLINT: what it holds is a value

  std::variant<std::monostate, Tensor, Expr, double, bool, std::string, DType, List> value;
  bool is_none() const { return std::holds_alternative<std::monostate>(value); }
};

using Values = std::vector<Value>;

// Of an argument that has another kind than its operator takes: UserError with its number.
class Arguments {
 public:
  Arguments(Graph& graph, Values values) : graph_(&graph), values_(std::move(values)) {}

  Graph& graph() const { return *graph_; }
  bool is_none(size_t i) const { return values_[i].is_none(); }

  Tensor tensor(size_t i) const;
  std::optional<Tensor> maybe_tensor(size_t i) const;
  std::vector<Tensor> tensors(size_t i) const;  // at least one
  const Value::List& list(size_t i) const;
  bool is_tensor(size_t i) const { return std::holds_alternative<Tensor>(values_[i].value); }
  // A number, a bool or a size.
  Scalar scalar(size_t i) const;
  std::optional<Scalar> maybe_scalar(size_t i) const;
  double real(size_t i) const;
  std::optional<double> maybe_real(size_t i) const;
  bool flag(size_t i) const;
  Expr size(size_t i) const;
  std::optional<Expr> maybe_size(size_t i) const;
  int integer(size_t i) const;
  std::optional<int> maybe_integer(size_t i) const;
  // An int stands for a list of it.
  Dims sizes(size_t i) const;
  std::vector<int> integers(size_t i) const;
  Axes axes(size_t i) const;  // None or an empty list: all
  std::string word(size_t i) const;
  std::optional<DType> maybe_dtype(size_t i) const;

 private:
  [[noreturn]] void wrong(size_t i, const char* wanted) const;

  Graph* graph_;
  Values values_;
};

}  // namespace luminal::pytorch
