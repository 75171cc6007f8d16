// For builds with a bundled LLVM, which has only this machine's target.
#include "luminal/backends/cpu/target/other_targets.h"

namespace luminal::backends::cpu {

void initialize_other_targets() {}

}  // namespace luminal::backends::cpu
