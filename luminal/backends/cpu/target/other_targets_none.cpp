// In builds with LLVM inside, which has this machine's target alone.
#include "luminal/backends/cpu/target/other_targets.h"

namespace luminal::backends::cpu {

void initialize_other_targets() {}

}  // namespace luminal::backends::cpu
