// Shows how far a benchmark is.
#pragma once

#include "apps/bench/harness/progress.h"
#include "apps/cli/terminal/progress_line.h"

namespace luminal::cli {

// Shows it on `line`, which must outlive what is returned.
bench::Progress shown_on(ProgressLine& line);

}  // namespace luminal::cli
