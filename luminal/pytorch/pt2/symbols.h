// Symbols: sizes as PyTorch writes them (sympy's srepr), as expressions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "luminal/shape/expr.h"

namespace luminal::pytorch {

class Symbols {
 public:
  // A symbol's bounds; others are at least 0.
  void set_range(const std::string& name, int64_t lower, int64_t upper);
  // Makes them one symbol, within the bounds of both.
  void set_equal(const std::string& name, const std::string& other);

  // The name of a symbol; none of any other size.
  static std::optional<std::string> name_of_symbol(std::string_view text);

  // "Add(Symbol('s77', positive=True, integer=True), Integer(-1))". UserError with the position for
  // what can't be read.
  Expr parse(std::string_view text) const;
  Expr variable(const std::string& name) const;

 private:
  // The name that stands for it and for those that equal it.
  const std::string& chosen(const std::string& name) const;

  std::map<std::string, std::pair<int64_t, int64_t>> ranges_;
  std::map<std::string, std::string> same_;  // as a symbol with another name
};

}  // namespace luminal::pytorch
