// The program `luminal` with the mistakes of debug_mistakes.py compiled in: `luminal_debug_faults N
// debug-ops …` makes the Nth of them, and none for 0.
#include <cstdlib>

#include "apps/cli/program.h"

namespace luminal {
extern int mistake;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  luminal::mistake = std::atoi(argv[1]);
  return luminal::cli::run_program(argc - 1, argv + 1);
}
