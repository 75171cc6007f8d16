#include "luminal/shape/index/index_range.h"

#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "luminal/shape/expr/expr_bounds.h"
#include "luminal/shape/expr/expr_linear.h"

namespace luminal::shape {
namespace {

// Limit on evaluated boxes before the proof gives up; a map of a few indices needs a handful.
constexpr int kMostBoxes = 4096;

using Box = std::map<int, Bounds>;  // the range of each index that occurs, by axis

// Bounds of expressions with variables bound to values and indices restricted to a box.
class BoxBounds {
 public:
  BoxBounds(const Bindings& bindings, const Box& box) : bindings_(bindings), box_(box) {}

  Bounds of(Expr e) {
    switch (e.kind()) {
      case ExprKind::Const:
        return {e.constant_term(), e.constant_term()};
      case ExprKind::Var: {
        const auto value = bindings_.find(e.name());
        return value ? Bounds{*value, *value} : Bounds{e.lower_bound(), e.upper_bound()};
      }
      case ExprKind::Index:
        return box_.at(e.axis());
      default:
        break;
    }
    const auto known = memo_.find(e.id());
    if (known != memo_.end()) return known->second;
    const Bounds bounds = divides_by_zero(e)
                              ? Bounds{0, 0}  // what backends compute
                              : bounds_over(e, [this](Expr operand) { return of(operand); });
    memo_.emplace(e.id(), bounds);
    return bounds;
  }

 private:
  bool divides_by_zero(Expr e) {
    const bool divides = e.kind() == ExprKind::FloorDiv || e.kind() == ExprKind::CeilDiv ||
                         e.kind() == ExprKind::Mod;
    if (!divides) return false;
    const Bounds divisor = of(e.operands()[1]);
    return divisor.lower == 0 && divisor.upper == 0;
  }

  const Bindings& bindings_;
  const Box& box_;
  std::unordered_map<uint32_t, Bounds> memo_;
};

// Adds the range of every index in `e` to the box; false if an extent is 0, or if it can't be
// evaluated, which sets `why`.
bool add_indices(Expr e, const Bindings& bindings, Box& box, std::string& why) {
  if (e.kind() == ExprKind::Index) {
    const Expr::Value extent = e.operands()[0].evaluate(bindings);
    if (!extent.value) why = extent.why;
    if (!extent.value || *extent.value <= 0) return false;
    box[e.axis()] = {0, *extent.value - 1};
    return true;
  }
  for (Expr operand : e.operands()) {
    if (operand.uses_indices() && !add_indices(operand, bindings, box, why)) return false;
  }
  return true;
}

std::string text_of(const Box& box) {
  std::string text;
  for (const auto& [axis, range] : box) {
    text += fmt::format("{}i{} = {}", text.empty() ? " at " : ", ", axis, range.lower);
  }
  return text;
}

// The index with the longest range in a box; none if every range is a single value.
std::optional<int> longest(const Box& box) {
  std::optional<int> axis;
  for (const auto& [candidate, range] : box) {
    if (range.lower == range.upper) continue;
    if (!axis || range.upper - range.lower > box.at(*axis).upper - box.at(*axis).lower) {
      axis = candidate;
    }
  }
  return axis;
}

}  // namespace

bool known_inside(Expr index, Expr size) { return known_in_range(index, size); }

std::string why_outside(Expr index, Expr size, const Bindings& bindings) {
  const Expr::Value room = size.evaluate(bindings);
  if (!room.value) return room.why;
  if (*room.value <= 0) return {};
  Box whole;
  std::string why;
  if (!add_indices(index, bindings, whole, why)) return why;
  std::vector<Box> open = {std::move(whole)};
  for (int boxes = 0; !open.empty(); ++boxes) {
    Box box = std::move(open.back());
    open.pop_back();
    const Bounds bounds = BoxBounds(bindings, box).of(index);
    if (bounds.lower >= 0 && bounds.upper < *room.value) continue;
    const std::optional<int> axis = longest(box);
    if (!axis || bounds.upper < 0 || bounds.lower >= *room.value) {
      return fmt::format("{} reaches {}{}", index.text(),
                         bounds.lower < 0 ? bounds.lower : bounds.upper, text_of(box));
    }
    if (boxes >= kMostBoxes) {
      return fmt::format("{} may lie anywhere from {} to {}", index.text(), bounds.lower,
                         bounds.upper);
    }
    Box upper = box;
    Bounds& low = box[*axis];
    const int64_t middle = low.lower + (low.upper - low.lower) / 2;
    upper[*axis].lower = middle + 1;
    low.upper = middle;
    open.push_back(std::move(upper));
    open.push_back(std::move(box));
  }
  return {};
}

}  // namespace luminal::shape
