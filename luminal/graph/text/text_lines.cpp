#include "luminal/graph/text/text_lines.h"

#include <fmt/format.h>

namespace luminal {

std::string variable_line(Expr variable) {
  return fmt::format("var {} {} {}\n", variable.name(), variable.lower_bound(),
                     variable.upper_bound());
}

Expr parse_variable(base::LineReader& line) {
  const std::string_view name = line.word();
  const int64_t lower = line.integer();
  const int64_t upper = line.integer();
  if (lower > upper) {
    line.fail(fmt::format("variable '{}' has no values: {} > {}", name, lower, upper));
  }
  return Expr::var(name, lower, upper);
}

DType parse_dtype(base::LineReader& line) {
  const std::string_view word = line.word();
  const std::optional<DType> dtype = dtype_from_name(word);
  if (!dtype) line.fail(fmt::format("'{}' is not a dtype", word));
  return *dtype;
}

Reducer parse_reducer(base::LineReader& line) {
  const std::string_view word = line.word();
  const std::optional<Reducer> reducer = reducer_from_name(word);
  if (!reducer) line.fail(fmt::format("'{}' is not a reducer: sum, prod or max", word));
  return *reducer;
}

}  // namespace luminal
