// Shows the progress of a benchmark.
#pragma once

#include "apps/bench/harness/progress.h"
#include "apps/cli/terminal/progress_line.h"

namespace luminal::cli {

// Returns a callback that shows progress on `line`, which must outlive it.
bench::Progress shown_on(ProgressLine& line);

}  // namespace luminal::cli
