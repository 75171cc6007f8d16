#include "luminal/base/os/futex.h"

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace luminal::base {

#ifdef __linux__

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

void futex_wait(std::atomic<uint32_t>& word, uint32_t value) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void futex_wake(std::atomic<uint32_t>& word, int count) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

#else

void futex_wait(std::atomic<uint32_t>& word, uint32_t value) { word.wait(value); }

void futex_wake(std::atomic<uint32_t>& word, int count) {
  if (count > 1) {
    word.notify_all();
  } else {
    word.notify_one();
  }
}

#endif

}  // namespace luminal::base
