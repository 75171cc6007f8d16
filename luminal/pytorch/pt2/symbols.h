// Symbols: sizes as PyTorch writes them (sympy's srepr), as expressions.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "luminal/shape/expr.h"

namespace luminal::pytorch {

class Symbols {
 public:
  // A symbol's bounds; others are at least 0.
  void set_range(const std::string& name, int64_t lower, int64_t upper);

  // "Add(Symbol('s77', positive=True, integer=True), Integer(-1))". UserError with the position for
  // what can't be read.
  Expr parse(std::string_view text) const;
  Expr variable(const std::string& name) const;

 private:
  std::map<std::string, std::pair<int64_t, int64_t>> ranges_;
};

}  // namespace luminal::pytorch
