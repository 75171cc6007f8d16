#include "tests/support/guarded_memory.h"

#include <fmt/format.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <stdexcept>

namespace luminal::tests {
namespace {

size_t page_size() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// Where the thread goes on after a fault, while it runs code that may have one.
thread_local sigjmp_buf way_out;
thread_local volatile bool expecting = false;
thread_local const std::byte* volatile fault_address = nullptr;

void on_fault(int signal_number, siginfo_t* info, void*) {
  if (!expecting) {
    signal(signal_number, SIG_DFL);  // somebody else's fault ends the program as ever
    return;
  }
  fault_address = static_cast<const std::byte*>(info->si_addr);
  siglongjmp(way_out, 1);
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
  });
}

// Apart, so that nothing in it lives across the jump.
bool faults(const std::function<void()>& body) {
  if (sigsetjmp(way_out, 1) != 0) {
    expecting = false;
    return true;
  }
  expecting = true;
  body();
  expecting = false;
  return false;
}

}  // namespace

GuardedMemory::~GuardedMemory() {
  for (const Room& room : rooms_) munmap(room.mapping, room.mapped);
}

std::byte* GuardedMemory::place(std::string what, size_t size, size_t alignment, GuardedSide side,
                                std::byte canary) {
  const size_t page = page_size();
  // At least a page: a buffer without elements still has a place that isn't to be touched.
  const size_t inside = std::max(page, (size + alignment + page - 1) / page * page);
  auto fits = [&](const Room& room) { return room.mapped >= inside + 2 * page; };
  auto found = std::find_if(rooms_.begin() + static_cast<ptrdiff_t>(used_), rooms_.end(), fits);
  if (found == rooms_.end()) {
    Room room{.mapped = inside + 2 * page};
    void* mapping = mmap(nullptr, room.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) throw std::runtime_error("no memory for a guarded buffer");
    room.mapping = static_cast<std::byte*>(mapping);
    mprotect(room.mapping + page, inside, PROT_READ | PROT_WRITE);
    found = rooms_.insert(rooms_.end(), room);
  }
  std::iter_swap(rooms_.begin() + static_cast<ptrdiff_t>(used_), found);
  Room& room = rooms_[used_++];
  std::byte* first = room.mapping + page;
  std::byte* end = room.mapping + room.mapped - page;
  const size_t from_end = (size + alignment - 1) / alignment * alignment;
  room.what = std::move(what);
  room.size = size;
  room.canary = canary;
  room.data = side == GuardedSide::Start ? first : end - from_end;
  std::fill(first, end, canary);
  return room.data;
}

std::string GuardedMemory::describe(const Room& room, const std::byte* address,
                                    const char* how) const {
  const ptrdiff_t past = address - (room.data + room.size);
  return past >= 0
             ? fmt::format("{} {} {} bytes past its end", how, room.what, past)
             : fmt::format("{} {} {} bytes before its start", how, room.what, room.data - address);
}

std::optional<std::string> GuardedMemory::changed_canary() const {
  for (size_t k = 0; k < used_; ++k) {
    const Room& room = rooms_[k];
    const std::byte* end = room.mapping + room.mapped - page_size();
    for (const std::byte* at = room.mapping + page_size(); at < end; ++at) {
      if (at == room.data) at += room.size;
      if (at >= end) break;
      if (*at != room.canary) return describe(room, at, "writes to");
    }
  }
  return std::nullopt;
}

std::optional<std::string> GuardedMemory::escape_of(const std::function<void()>& body) {
  install_handler();
  if (!faults(body)) return changed_canary();
  const std::byte* at = fault_address;
  for (size_t k = 0; k < used_; ++k) {
    const Room& room = rooms_[k];
    if (at >= room.mapping && at < room.mapping + room.mapped) {
      return describe(room, at, "faults at");
    }
  }
  return fmt::format("faults at {}, far from every buffer", static_cast<const void*>(at));
}

}  // namespace luminal::tests
