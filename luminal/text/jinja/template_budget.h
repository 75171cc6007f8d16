// TemplateBudget: limits the work of a chat template, so that a hostile one ends with an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace luminal::tokens {

struct TemplateBudget {
  int64_t steps = 2'000'000;         // expressions and statements
  int64_t bytes = int64_t{1} << 28;  // created and scanned in total
  size_t output = size_t{16} << 20;  // bytes of the result
  int depth = 300;                   // nesting of expressions and calls
  int line = 1;                      // the current one, for messages

  [[noreturn]] void fail(const std::string& what) const;  // UserError with the line
  void step();
  // Call before creating something of this many bytes.
  void spend(size_t n);
};

}  // namespace luminal::tokens
