// Options of a compile as keyword arguments: those of CompileOptions, by their names.
#pragma once

#include "binding/casters.h"
#include "binding/interrupts.h"
#include "luminal/driver/compile.h"

namespace luminal::python {

// TypeError for an option that isn't known, UserError for a value that can't be one.
CompileOptions read_options(const nb::kwargs& options);

// A compile that Python waits for: without the GIL, with progress, ended by Ctrl-C. While plans are
// measured, Ctrl-C ends the search alone, and the best plan so far is compiled.
class Waiting {
 public:
  // Changes the options' callbacks, which refer to this.
  explicit Waiting(CompileOptions& options);
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting();  // takes the line of progress away

 private:
  void show(const CompileProgress& now);

  Interrupts interrupts_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point next_ = {};
  bool shown_ = false;
};

}  // namespace luminal::python
