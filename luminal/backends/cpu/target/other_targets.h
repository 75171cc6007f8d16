// Code for machines of another kind than this one.
#pragma once

namespace luminal::backends::cpu {

// Makes the targets of LLVM known that aren't this machine's, where the build has them.
void initialize_other_targets();

}  // namespace luminal::backends::cpu
