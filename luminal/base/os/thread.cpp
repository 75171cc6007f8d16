#include "luminal/base/os/thread.h"

#include "luminal/base/errors.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <exception>
#include <string>
#include <system_error>
#include <thread>

namespace luminal::base {
namespace {

struct Call {
  const std::function<void()>& function;
  std::exception_ptr error;
};

void* run_call(void* argument) {
  Call& call = *static_cast<Call*>(argument);
  try {
    call.function();
  } catch (...) {
    call.error = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void run_with_stack(size_t bytes, const std::function<void()>& function) {
  constexpr size_t kPage = 4096;
  const size_t least = std::max(bytes, static_cast<size_t>(PTHREAD_STACK_MIN));
  const size_t size = (least + kPage - 1) / kPage * kPage;
  Call call{function, nullptr};
  pthread_attr_t attributes;
  pthread_t thread;
  int error = pthread_attr_init(&attributes);
  if (error == 0) {
    error = pthread_attr_setstacksize(&attributes, size);
    if (error == 0) error = pthread_create(&thread, &attributes, run_call, &call);
    pthread_attr_destroy(&attributes);
  }
  if (error != 0) {
    throw DeviceError("can't start a thread with a stack of " + std::to_string(size) +
                      " bytes: " + std::generic_category().message(error));
  }
  pthread_join(thread, nullptr);
  if (call.error) std::rethrow_exception(call.error);
}

bool start_helper_thread(std::function<void()> function) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    std::thread(std::move(function)).detach();
  } catch (const std::system_error&) {
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

bool pin_to_core(int position) {
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
  int left = position % std::max(CPU_COUNT(&allowed), 1);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
  }
#else
  (void)position;
#endif
  return false;
}

int current_core() {
#ifdef __linux__
  return sched_getcpu();
#else
  return -1;
#endif
}

}  // namespace luminal::base
