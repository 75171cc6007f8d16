// The command line of a contestant: driven by a harness, or running itself.
#pragma once

#include "apps/bench/harness/protocol.h"

namespace luminal::bench {

// Without arguments it answers commands (serve). With cases it runs them and prints their answers,
// as lines of the protocol with --json. Returns the exit code: 1 after an error, 2 for a wrong
// command line.
int bench_main(const Contestant& contestant, int argc, char** argv);

}  // namespace luminal::bench
