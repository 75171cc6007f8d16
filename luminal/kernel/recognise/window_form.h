// WindowForms: a GEMM whose right factors are windows of an image, as in a convolution.
//
// Lines are the second last of the columns and columns the last: window (line, column) moves down
// and across the image, and the sum over k runs over channels and the elements of the window.
//
// Example: a 3 × 3 convolution with padding 1 reads x[k div 9, line + k div 3 mod 3 − 1,
// column + k mod 3 − 1] where that lies inside, else 0. Its axes have stride 1 and size 3, divisors
// 3 and 1, and its period is 9.
#pragma once

#include <optional>
#include <vector>

#include "luminal/kernel/recognise/contraction_form.h"

namespace luminal::kernel {

// How windows move along one axis: element d of the window at position p is read at
// stride · p + dilation · d.
struct WindowAxis {
  int64_t stride = 1;
  int64_t divisor = 1;  // d = k div divisor mod size
  int64_t size = 1;
  int64_t dilation = 1;

  bool operator==(const WindowAxis&) const = default;
};

struct WindowForm {
  WindowAxis down, across;
  int64_t period = 1;  // elements of a window in one channel, consecutive along k
};

// Positions beyond those of the windows that their last elements see, in window strides.
int64_t beyond(const WindowAxis& axis);

// Of all contractions of a kernel. Extents of the loops and lengths of the sums are constants.
struct WindowForms {
  LoopId line, column;
  std::vector<WindowForm> forms;  // by contraction
};

// None if a factor depends on these loops in another way. A window may be one element: such lines
// are windows too where they can't be collapsed with their columns.
std::optional<WindowForms> window_forms(const Kernel& kernel, const ContractionForm& form);

}  // namespace luminal::kernel
