// Variants: which of an executable's programs runs for which values of its variables.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/shape/expr.h"

namespace luminal {

class Variants {
 public:
  Variants() = default;  // one, for all values
  // By variable: the largest value of each range; a last range holds what is above. UserError for a
  // name that isn't among `variables`, or for ranges that don't increase within its bounds.
  Variants(const std::vector<Expr>& variables,
           const std::map<std::string, std::vector<int64_t>>& asked);

  size_t count() const;
  // The variant for these values; allocates nothing.
  size_t pick(const Bindings& bindings) const;
  // The values to plan a variant for: those of `typical` that lie in its ranges, else the largest
  // of a range, or, above the last one asked for, the smallest of it.
  Bindings sizes(size_t variant, const Bindings& typical) const;
  // The graph specialised to a variant: its variables are bounded by the variant's ranges, and one
  // with a single value there becomes a constant. So kernels for few rows are made for few rows.
  std::shared_ptr<const Graph> narrowed(size_t variant, std::shared_ptr<const Graph> graph) const;
  std::string text(size_t variant) const;  // "s = 2 … 16"; empty where there is only one

 private:
  struct Range {
    int64_t first, last;
  };
  struct Axis {
    Expr variable;
    std::vector<Range> ranges;
    bool open = false;  // the last range holds what is above the values asked for
  };
  // The range of each axis.
  std::vector<size_t> ranges_of(size_t variant) const;

  std::vector<Axis> axes_;
};

}  // namespace luminal
