#include "luminal/driver/options/variants.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/graph/edit.h"

namespace luminal {
namespace {

constexpr size_t kMostVariants = 32;

}  // namespace

Variants::Variants(const std::vector<Expr>& variables,
                   const std::map<std::string, std::vector<int64_t>>& asked) {
  for (const auto& [name, lasts] : asked) {
    auto variable =
        std::find_if(variables.begin(), variables.end(), [&](Expr v) { return v.name() == name; });
    if (variable == variables.end()) {
      throw UserError(
          fmt::format("compile: variants for '{}', but the graph has no such variable; it has: {}",
                      name, variables.empty() ? "none" : luminal::text(variables)));
    }
    const int64_t lower = variable->lower_bound(), upper = variable->upper_bound();
    Axis axis{.variable = *variable, .ranges = {}};
    int64_t next = lower;
    for (int64_t last : lasts) {
      if (last < next || last > upper) {
        throw UserError(fmt::format(
            "compile: variants for '{}' end at {}; give rising values within its bounds {} … {}",
            name, fmt::join(lasts, ", "), lower, upper));
      }
      axis.ranges.push_back({next, last});
      next = last + 1;
    }
    if (next <= upper) {
      axis.ranges.push_back({next, upper});
      axis.open = true;
    }
    axes_.push_back(std::move(axis));
  }
  if (count() > kMostVariants) {
    throw UserError(
        fmt::format("compile: {} variants; ask for {} at most", count(), kMostVariants));
  }
}

size_t Variants::count() const {
  size_t count = 1;
  for (const Axis& axis : axes_) count *= axis.ranges.size();
  return count;
}

size_t Variants::pick(const Bindings& bindings) const {
  size_t variant = 0;
  for (const Axis& axis : axes_) {
    const int64_t value = bindings.find(axis.variable.name()).value();
    size_t range = 0;
    while (range + 1 < axis.ranges.size() && value > axis.ranges[range].last) ++range;
    variant = variant * axis.ranges.size() + range;
  }
  return variant;
}

std::vector<size_t> Variants::ranges_of(size_t variant) const {
  LUMINAL_CHECK(variant < count(), "there is no such variant");
  std::vector<size_t> ranges(axes_.size());
  for (size_t a = axes_.size(); a-- > 0;) {
    ranges[a] = variant % axes_[a].ranges.size();
    variant /= axes_[a].ranges.size();
  }
  return ranges;
}

Bindings Variants::sizes(size_t variant, const Bindings& typical) const {
  Bindings sizes = typical;
  const std::vector<size_t> ranges = ranges_of(variant);
  for (size_t a = 0; a < axes_.size(); ++a) {
    const Axis& axis = axes_[a];
    const Range range = axis.ranges[ranges[a]];
    const std::optional<int64_t> wished = typical.find(axis.variable.name());
    if (wished && *wished >= range.first && *wished <= range.last) continue;
    const bool above = axis.open && ranges[a] + 1 == axis.ranges.size();
    sizes.set(axis.variable.name(), above ? range.first : range.last);
  }
  return sizes;
}

std::shared_ptr<const Graph> Variants::narrowed(size_t variant,
                                                std::shared_ptr<const Graph> graph) const {
  if (count() == 1) return graph;
  const std::vector<size_t> ranges = ranges_of(variant);
  for (size_t a = 0; a < axes_.size(); ++a) {
    const auto [first, last] = axes_[a].ranges[ranges[a]];
    const Expr variable = axes_[a].variable;
    const Expr within = first == last ? Expr(first) : Expr::var(variable.name(), first, last);
    graph = with_variable(*graph, variable, within);
  }
  return graph;
}

std::string Variants::text(size_t variant) const {
  if (count() == 1) return {};
  std::string out;
  const std::vector<size_t> ranges = ranges_of(variant);
  for (size_t a = 0; a < axes_.size(); ++a) {
    const Range range = axes_[a].ranges[ranges[a]];
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", axes_[a].variable.name(), range.first);
    if (range.last > range.first) out += fmt::format(" … {}", range.last);
  }
  return out;
}

}  // namespace luminal
