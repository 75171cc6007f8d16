// TemplateBudget: how much a chat template may do, so that a hostile one ends with an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace luminal::tokens {

struct TemplateBudget {
  int64_t steps = 2'000'000;         // expressions and statements
  int64_t bytes = int64_t{1} << 28;  // of all that is made and looked through on the way
  size_t output = size_t{16} << 20;  // of the result
  int depth = 300;                   // of expressions and calls inside one another
  int line = 1;                      // of what is being done, for messages

  [[noreturn]] void fail(const std::string& what) const;  // UserError with the line
  void step();
  // Before something of this many bytes is made.
  void spend(size_t n);
};

}  // namespace luminal::tokens
