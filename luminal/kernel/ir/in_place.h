// In-place execution: which inputs of a kernel may share memory with its outputs.
#pragma once

#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

// Whether params[output] may overwrite params[input]: both have the same dims and element width,
// and each outer point reads only those elements of the input that the same point writes, before it
// writes them. So the stage that writes the output may read the input only at the index it writes,
// an earlier stage anywhere in the point's part of the output, a later one not at all.
bool may_share(const Kernel& kernel, ParamId input, ParamId output);

}  // namespace luminal::kernel
