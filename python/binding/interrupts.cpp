#include "binding/interrupts.h"

namespace luminal::python {
namespace {

constexpr std::chrono::milliseconds kBetween(50);

}  // namespace

bool Interrupts::due() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return false;
  next_ = now + kBetween;
  return true;
}

bool Interrupts::pressed() {
  if (pressed_ || !due()) return pressed_;
  nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() == 0) return false;
  if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) throw nb::python_error();
  PyErr_Clear();
  pressed_ = true;
  return true;
}

void Interrupts::check() {
  if (!due()) return;
  nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace luminal::python
