// Cross compilation: code for other architectures than this machine's.
#pragma once

namespace luminal::backends::cpu {

// Registers LLVM's other targets, if the build has them.
void initialize_other_targets();

}  // namespace luminal::backends::cpu
