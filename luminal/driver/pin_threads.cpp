#include "luminal/driver/pin_threads.h"

#include "luminal/runtime/thread_pool.h"

namespace luminal {

void pin_threads() { runtime::pin_helpers(); }

}  // namespace luminal
