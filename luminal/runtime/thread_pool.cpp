#include "luminal/runtime/thread_pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "luminal/base/check.h"
#include "luminal/base/os/futex.h"
#include "luminal/base/os/limits.h"
#include "luminal/base/os/thread.h"

namespace luminal::runtime {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;
using namespace std::chrono_literals;

// A waiting thread spins this long before it sleeps: launches of one run follow one another sooner,
// and waking a sleeping thread takes some ten microseconds.
constexpr nanoseconds kSpin = 200us;
// The same while other programs compete for the cores: spinning then takes time from them and,
// through the scheduler's accounting, from the very work that is waited for.
constexpr nanoseconds kSpinInCompany = 2us;
// While others compete, helpers aren't woken for work that takes one thread less than this.
constexpr double kWakeInCompanyMicroseconds = 40;
// A spinning thread that made no progress for longer than this was preempted.
constexpr nanoseconds kInterrupted = 300us;
// How long competition is expected to last after a preemption; doubles if it recurs soon.
constexpr nanoseconds kShortestStay = 50ms, kLongestStay = 500ms;
constexpr size_t kJobs = 16;  // concurrent calls of run_shares that helpers take part in
constexpr int kPausesPerLook = 16;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

// Whether other programs compete for the cores, judged by preemptions of spinning threads.
class Company {
 public:
  bool expected(Clock::time_point now) const {
    return now.time_since_epoch().count() < until_.load(std::memory_order_relaxed);
  }

  void notice(Clock::time_point now) {
    const int64_t at = now.time_since_epoch().count();
    // If it recurs soon after it was expected to be over, expect it to last twice as long.
    const bool again =
        at < until_.load(std::memory_order_relaxed) + 2 * stay_.load(std::memory_order_relaxed);
    const int64_t stay =
        again ? std::min(2 * stay_.load(std::memory_order_relaxed), count(kLongestStay))
              : count(kShortestStay);
    stay_.store(stay, std::memory_order_relaxed);
    until_.store(at + stay, std::memory_order_relaxed);
  }

 private:
  static constexpr int64_t count(nanoseconds time) {
    return std::chrono::duration_cast<Clock::duration>(time).count();
  }

  std::atomic<int64_t> until_ = 0;  // since the clock's epoch
  std::atomic<int64_t> stay_ = count(kShortestStay);
};

// Spins until `done`; false when it is time to sleep instead. `rival` is the core of the thread
// that is waited for: spinning there would keep it from running.
template <class Done>
bool spin_until(Done done, Company& company, const std::atomic<int>* rival) {
  if (done()) return true;
  const Clock::time_point start = Clock::now();
  const nanoseconds longest = company.expected(start) ? kSpinInCompany : kSpin;
  for (Clock::time_point before = start;;) {
    if (rival != nullptr && base::current_core() == rival->load(std::memory_order_relaxed))
      return false;
    for (int i = 0; i < kPausesPerLook; ++i) {
      pause();
      if (done()) return true;
    }
    const Clock::time_point now = Clock::now();
    if (now - before > kInterrupted) {
      company.notice(now);
      return done();
    }
    if (now - start > longest) return false;
    before = now;
  }
}

// One call of run_shares. Jobs are slots in the pool, not objects on the caller's stack: a helper
// that looks at one after its end safely finds nothing to claim.
class alignas(64) Job {
 public:
  // A slot belongs to one caller at a time.
  bool reserve() { return !reserved_.test_and_set(std::memory_order_acquire); }
  void release() { reserved_.clear(std::memory_order_release); }

  // Share 0 is already claimed, by the caller.
  void open(int shares, ShareFunction function) {
    function_ = function;
    unfinished_.store(static_cast<uint32_t>(shares), std::memory_order_relaxed);
    claims_.store(static_cast<uint32_t>(shares) << kBits | 1, std::memory_order_release);
  }

  // Claims the next unclaimed share, or returns -1. A successful exchange claims a share of the job
  // that is in this slot at that moment, and that job can't end before the share has run.
  int claim() {
    uint32_t claims = claims_.load(std::memory_order_acquire);
    while ((claims & kMask) < claims >> kBits) {
      if (claims_.compare_exchange_weak(claims, claims + 1, std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
        return static_cast<int>(claims & kMask);
      }
    }
    return -1;
  }

  void run(int share) { function_(share); }

  // Called by a helper after run(). After the decrement the job may be over: only `asleep_` and the
  // futex word may still be touched.
  void finish() {
    if (unfinished_.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
        asleep_.load(std::memory_order_seq_cst)) {
      base::futex_wake(unfinished_, 1);
    }
  }

  // Called by the caller after run(): it needn't wake itself.
  void finish_own() { unfinished_.fetch_sub(1, std::memory_order_acq_rel); }

  void wait(Company& company) {
    auto done = [&] { return unfinished_.load(std::memory_order_acquire) == 0; };
    if (spin_until(done, company, nullptr)) return;
    asleep_.store(true, std::memory_order_seq_cst);
    for (uint32_t left = unfinished_.load(std::memory_order_seq_cst); left != 0;
         left = unfinished_.load(std::memory_order_seq_cst)) {
      base::futex_wait(unfinished_, left);
    }
    asleep_.store(false, std::memory_order_relaxed);
  }

 private:
  static constexpr int kBits = 16;
  static constexpr uint32_t kMask = (1u << kBits) - 1;

  std::atomic<uint32_t> claims_ = 0;  // shares in the upper half, the next to claim in the lower
  std::atomic<uint32_t> unfinished_ = 0;
  std::atomic<bool> asleep_ = false;  // the caller
  std::atomic_flag reserved_;
  ShareFunction function_ = [](int) {};
};

class Pool {
 public:
  void run(int shares, double us, ShareFunction function) {
    start_helpers(shares - 1);
    Job* job = helpers_.load(std::memory_order_relaxed) == 0 ? nullptr : reserve_job();
    if (job == nullptr) {
      for (int share = 0; share < shares; ++share) function(share);
      return;
    }
    job->open(shares, function);
    core_.store(base::current_core(), std::memory_order_relaxed);
    wake(shares - 1, us);
    for (int share = 0; share >= 0; share = job->claim()) {
      job->run(share);
      job->finish_own();
    }
    job->wait(company_);
    job->release();
  }

  void pin() { pins_.store(true, std::memory_order_relaxed); }

  int helpers() const { return helpers_.load(std::memory_order_relaxed); }

 private:
  Job* reserve_job() {
    for (Job& job : jobs_) {
      if (job.reserve()) return &job;
    }
    return nullptr;
  }

  void start_helpers(int wanted) {
    if (wanted <= helpers_.load(std::memory_order_acquire) ||
        all_started_.load(std::memory_order_acquire)) {
      return;
    }
    const std::lock_guard lock(starting_);
    const int most = static_cast<int>(base::usable_threads()) - 1;
    // Never joined: helpers end with the process. After fork() a child has none, and its callers
    // run all shares themselves.
    while (helpers() < std::min(wanted, most) &&
           base::start_helper_thread([this, core = helpers() + 1] { help(core); })) {
      helpers_.fetch_add(1, std::memory_order_release);
    }
    if (helpers() < wanted) all_started_.store(true, std::memory_order_release);
  }

  void wake(int count, double us) {
    posted_.fetch_add(1, std::memory_order_seq_cst);
    const int asleep = asleep_.load(std::memory_order_seq_cst);
    if (asleep == 0) return;
    if (us < kWakeInCompanyMicroseconds && company_.expected(Clock::now())) return;
    base::futex_wake(posted_, std::min(count, asleep));
  }

  bool help_once() {
    for (Job& job : jobs_) {
      const int share = job.claim();
      if (share < 0) continue;
      job.run(share);
      job.finish();
      return true;
    }
    return false;
  }

  // `core`: where it stays if helpers are pinned.
  [[noreturn]] void help(int core) {
    for (bool is_pinned = false;;) {
      if (!is_pinned && pins_.load(std::memory_order_relaxed)) {
        base::pin_to_core(core);
        is_pinned = true;
      }
      const uint32_t seen = posted_.load(std::memory_order_acquire);
      if (help_once()) continue;
      auto posted = [&] { return posted_.load(std::memory_order_relaxed) != seen; };
      if (spin_until(posted, company_, &core_)) continue;
      asleep_.fetch_add(1, std::memory_order_seq_cst);
      base::futex_wait(posted_, seen);
      asleep_.fetch_sub(1, std::memory_order_relaxed);
    }
  }

  std::array<Job, kJobs> jobs_;
  alignas(64) std::atomic<uint32_t> posted_ = 0;  // calls so far; helpers sleep on it
  std::atomic<int> asleep_ = 0;
  std::atomic<int> core_ = -1;  // of the last caller
  Company company_;
  std::mutex starting_;
  std::atomic<int> helpers_ = 0;
  std::atomic<bool> all_started_ = false;
  std::atomic<bool> pins_ = false;
};

// Never destroyed: helpers may still use it while the process exits.
Pool& pool() {
  static Pool* const made = new Pool;
  return *made;
}

}  // namespace

void run_shares(int shares, double us, ShareFunction function) {
  LUMINAL_CHECK(shares >= 0 && shares <= kMostShares, "a launch has too many shares");
  if (shares <= 1) {
    if (shares == 1) function(0);
    return;
  }
  pool().run(shares, us, function);
}

void pin_helpers() { pool().pin(); }

int helper_threads() { return pool().helpers(); }

}  // namespace luminal::runtime
