// Symbols: sizes as PyTorch writes them (sympy's srepr), as expressions, and what is known of them.
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
  // What holds of sizes. Each says whether that was new; UserError where it leaves no size.
  // Two sizes are one: one of them is a symbol, the other has at most one symbol.
  bool set_equal(Expr a, Expr b);
  // a ≤ b.
  bool set_at_most(Expr a, Expr b);
  // x % modulus == remainder, 0 ≤ remainder < modulus: a symbol s of which s % 4 == 1 becomes
  // 4 * s_by_4 + 1, where s_by_4 is another symbol.
  bool set_remainder(Expr x, int64_t modulus, int64_t remainder);

  // "Add(Symbol('s77', positive=True, integer=True), Integer(-1))". UserError with the position for
  // what can't be read.
  Expr parse(std::string_view text) const;
  // A symbol, or what is known to equal it: scale · another symbol + offset.
  Expr variable(const std::string& name) const;

 private:
  // scale · symbol + offset
  struct Definition {
    std::string symbol;
    int64_t scale = 1, offset = 0;
  };
  struct Range {
    int64_t lower = 0, upper = Expr::kMaxVar;
  };

  Range range_of(const std::string& name) const;
  // Defines a symbol that has no definition.
  bool define(const std::string& name, Definition definition);
  bool narrow(const std::string& name, Range range);

  std::map<std::string, Range> ranges_;            // of symbols without a definition
  std::map<std::string, Definition> definitions_;  // by earlier or later symbols, never in a circle
};

}  // namespace luminal::pytorch
