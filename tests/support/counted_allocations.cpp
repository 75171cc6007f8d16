#include "tests/support/counted_allocations.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace {

std::atomic<bool> counting = false;
std::atomic<int64_t> count = 0;
std::atomic<int64_t> bytes = 0;

void note(size_t size) {
  if (!counting) return;
  ++count;
  bytes += static_cast<int64_t>(size);
}

}  // namespace

// Every allocation of the process ends here: operator new calls malloc.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  note(size);
  return __libc_malloc(size);
}
void* calloc(size_t elements, size_t size) {
  note(elements * size);
  return __libc_calloc(elements, size);
}
void* realloc(void* old, size_t size) {
  note(size);
  return __libc_realloc(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  note(size);
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** result, size_t alignment, size_t size) {
  note(size);
  *result = __libc_memalign(alignment, size);
  return *result == nullptr ? ENOMEM : 0;
}
}

namespace luminal::tests {

void start_counting_allocations() {
  count = 0;
  bytes = 0;
  counting = true;
}

Allocations stop_counting_allocations() {
  counting = false;
  return {.count = count, .bytes = bytes};
}

}  // namespace luminal::tests
