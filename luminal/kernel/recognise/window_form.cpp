#include "luminal/kernel/recognise/window_form.h"

#include <algorithm>
#include <utility>

#include "luminal/kernel/recognise/guarded_loads.h"

namespace luminal::kernel {
namespace {

// The loops that a factor varies along.
struct WindowLoops {
  LoopId k, line, column;
  int64_t length;  // of k
};

// k div divisor mod size.
struct Digit {
  int64_t divisor, size;
};

// An expression as multiples of the indices of line and column and of digits of k.
struct Parts {
  int64_t down = 0, across = 0;
  std::vector<std::pair<Digit, int64_t>> digits;
};

bool is_index(Expr e, LoopId loop) { return e.kind() == ExprKind::Index && loop_of(e) == loop; }

std::optional<Digit> digit_of(Expr e, const WindowLoops& loops) {
  int64_t divisor = 1;
  std::optional<int64_t> size;
  if (e.kind() == ExprKind::Mod) {
    size = e.operands()[1].to_int();
    if (!size) return std::nullopt;
    e = e.operands()[0];
  }
  if (e.kind() == ExprKind::FloorDiv) {
    const std::optional<int64_t> by = e.operands()[1].to_int();
    if (!by) return std::nullopt;
    divisor = *by;
    e = e.operands()[0];
  }
  if (!is_index(e, loops.k) || divisor < 1 || size.value_or(1) < 1) return std::nullopt;
  return Digit{.divisor = divisor, .size = size.value_or((loops.length + divisor - 1) / divisor)};
}

// Recognises a factor, by what all of its index expressions have in common.
class Recogniser {
 public:
  Recogniser(const Stage& factor, const WindowLoops& loops) : factor_(factor), loops_(loops) {}

  std::optional<WindowForm> form() {
    const auto guarded = guarded_loads(factor_);
    bool has_lines = false;  // some load has neighbouring columns beside each other
    for (size_t k = 0; k < factor_.body.size(); ++k) {
      const auto& what = factor_.body[k].what;
      if (std::holds_alternative<LocalInst>(what)) return std::nullopt;
      const auto* load = std::get_if<LoadInst>(&what);
      if (load == nullptr) continue;
      const std::vector<Index>& indices = guarded[k] ? guarded[k]->index : load->index;
      for (const Index& index : indices) {
        if (index.value || !take(index.expr)) return std::nullopt;
      }
      has_lines = has_lines || (!indices.empty() && uses_loop(indices.back().expr, loops_.column));
    }
    if (!has_lines || !down_ || !across_) return std::nullopt;
    for (const Inst& inst : factor_.body) {
      const auto* iota = std::get_if<IotaInst>(&inst.what);
      if (iota != nullptr && !take_condition(iota->expr)) return std::nullopt;
    }
    return whole_form();
  }

 private:
  bool uses_any(Expr e) const {
    return uses_loop(e, loops_.k) || uses_loop(e, loops_.line) || uses_loop(e, loops_.column);
  }

  bool take_condition(Expr e) {
    if (!uses_any(e)) return true;
    switch (e.kind()) {
      case ExprKind::And:
      case ExprKind::Or:
        return std::ranges::all_of(e.operands(), [&](Expr part) { return take_condition(part); });
      case ExprKind::Less:
      case ExprKind::GreaterEqual:
        return !uses_any(e.operands()[1]) && moves_along(e.operands()[0]);
      default:
        return moves_along(e);
    }
  }

  // Adds what the index of a load says of the axes; false if it isn't of the form.
  bool take(Expr e) {
    const std::optional<Parts> parts = parts_of(e);
    if (!parts) return false;
    const std::optional<WindowAxis> axis = axis_of(*parts);
    if (parts->down != 0 || parts->across != 0) {
      std::optional<WindowAxis>& known = parts->down != 0 ? down_ : across_;
      if (!axis) return false;
      if (!known) known = axis;
      return *known == *axis;
    }
    for (const auto& [digit, times] : parts->digits) channels_.push_back(digit);
    return true;
  }

  // Whether an expression of a condition is the same for all windows that see an element: it
  // changes along an axis as the loads' indices do, or by a factor of that.
  bool moves_along(Expr e) {
    const std::optional<Parts> parts = parts_of(e);
    if (!parts) return false;
    if (parts->down == 0 && parts->across == 0) {
      for (const auto& [digit, times] : parts->digits) channels_.push_back(digit);
      return true;
    }
    const std::optional<WindowAxis> axis = axis_of(*parts);
    const WindowAxis& known = parts->down != 0 ? *down_ : *across_;
    return axis && axis->divisor == known.divisor && axis->size == known.size &&
           axis->stride * known.dilation == known.stride * axis->dilation;
  }

  std::optional<Parts> parts_of(Expr e) const {
    Parts parts;
    if (e.kind() != ExprKind::Sum) {
      return add(e, 1, parts) ? std::optional(std::move(parts)) : std::nullopt;
    }
    for (size_t k = 0; k < e.operands().size(); ++k) {
      if (!add(e.operands()[k], e.coefficients()[k], parts)) return std::nullopt;
    }
    return parts;
  }

  bool add(Expr term, int64_t times, Parts& parts) const {
    if (!uses_any(term)) return true;
    if (is_index(term, loops_.line)) {
      parts.down += times;
    } else if (is_index(term, loops_.column)) {
      parts.across += times;
    } else {
      const std::optional<Digit> digit = digit_of(term, loops_);
      if (!digit) return false;
      parts.digits.emplace_back(*digit, times);
    }
    return true;
  }

  // Of an expression that moves along one axis.
  static std::optional<WindowAxis> axis_of(const Parts& parts) {
    if (parts.down != 0 && parts.across != 0) return std::nullopt;
    WindowAxis axis{.stride = parts.down + parts.across};
    if (axis.stride < 1 || parts.digits.size() > 1) return std::nullopt;
    if (parts.digits.empty()) return axis;
    const auto& [digit, times] = parts.digits.front();
    if (times < 1) return std::nullopt;
    return WindowAxis{
        .stride = axis.stride, .divisor = digit.divisor, .size = digit.size, .dilation = times};
  }

  // The window's elements must be the lowest digits of k.
  std::optional<WindowForm> whole_form() const {
    WindowForm form{.down = *down_, .across = *across_};
    std::vector<WindowAxis> axes;
    for (const WindowAxis& axis : {form.down, form.across}) {
      if (axis.size > 1) axes.push_back(axis);
    }
    std::ranges::sort(axes, {}, &WindowAxis::divisor);
    for (const WindowAxis& axis : axes) {
      if (axis.divisor != form.period) return std::nullopt;
      form.period *= axis.size;
    }
    if (loops_.length % form.period != 0) return std::nullopt;
    for (const Digit& digit : channels_) {
      if (digit.size > 1 && digit.divisor % form.period != 0) return std::nullopt;
    }
    return form;
  }

  const Stage& factor_;
  const WindowLoops& loops_;
  std::optional<WindowAxis> down_, across_;
  std::vector<Digit> channels_;
};

std::optional<WindowForm> window_form(const Kernel& kernel, const Contraction& contraction,
                                      LoopId line, LoopId column) {
  const std::optional<int64_t> length = extent_of(kernel, contraction.k).to_int();
  if (!length || *length < 1) return std::nullopt;
  const Stage factor = factor_stage(kernel.stages[contraction.stage], contraction.right);
  const WindowLoops loops{.k = contraction.k, .line = line, .column = column, .length = *length};
  return Recogniser(factor, loops).form();
}

}  // namespace

int64_t beyond(const WindowAxis& axis) { return (axis.size - 1) * axis.dilation / axis.stride; }

std::optional<WindowForms> window_forms(const Kernel& kernel, const ContractionForm& form) {
  if (form.columns.size() < 2) return std::nullopt;
  WindowForms found{
      .line = form.columns[form.columns.size() - 2], .column = form.columns.back(), .forms = {}};
  for (LoopId loop : {found.line, found.column}) {
    if (extent_of(kernel, loop).to_int().value_or(0) < 1) return std::nullopt;
  }
  for (const Contraction& contraction : form.contractions) {
    const auto window = window_form(kernel, contraction, found.line, found.column);
    if (!window) return std::nullopt;
    found.forms.push_back(*window);
  }
  return found;
}

}  // namespace luminal::kernel
