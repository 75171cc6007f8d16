#include "apps/cli/machine/bench_progress.h"

#include <fmt/format.h>

namespace luminal::cli {

bench::Progress shown_on(ProgressLine& line) {
  return [&line](const bench::Moment& moment) {
    if (moment.total > 0) {
      line.show_share(moment.stage, moment.done, moment.total, fmt::format("({})", moment.now));
    } else if (line.due()) {
      line.show(fmt::format("{}: {}", moment.stage, moment.now));
    }
  };
}

}  // namespace luminal::cli
