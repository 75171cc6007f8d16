#include "luminal/backends/cpu/launch/launch.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "luminal/backends/cpu/schedule/gathered_rows.h"
#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/runtime/thread_pool.h"

namespace luminal::backends::cpu {
namespace {

// Minimum time of a piece, the unit of work stealing: long compared to starting a kernel, which may
// copy a row or a panel. With this many pieces, threads don't wait long for the last one.
constexpr double kPieceMicroseconds = 100;
constexpr int kMostPieces = 32;
constexpr int kMostPiecesWithRows = 2;  // for kernels that copy all rows when they start

int64_t evaluate(Expr e, const Bindings& bindings) {
  Expr::Value value = e.evaluate(bindings);
  if (!value.value) {
    throw UserError("run: " + e.text() + " has no value: " + value.why +
                    "; the sizes of the graph are too large, or a variable isn't given");
  }
  return *value.value;
}

void check_alignment(const LaunchPart& part) {
  const CompiledKernel& kernel = *part.launch->kernel;
  if (!kernel.form().aligned_outputs) return;
  for (kernel::ParamId k : kernel.kernel().params.ids()) {
    const auto address = reinterpret_cast<uintptr_t>(part.params[k.index()]);
    LUMINAL_CHECK(!kernel.kernel().params[k].output || address % 64 == 0,
                  "non-temporal stores need outputs aligned to 64 bytes");
  }
}

// Progress counters for work stealing: how many grains of each share have been taken, for all
// launches that run in parallel.
class Taken {
 public:
  static constexpr size_t kMost = 64;

  // Takes the next `piece` grains of a share; returns the first of them.
  int64_t take(size_t share, int64_t piece) {
    return counts_[share].fetch_add(piece, std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<int64_t>, kMost> counts_ = {};
};

// Runs thread k's share of a launch on n threads, then steals pieces of other shares. The launch's
// counters start at `first`.
void run_share(const LaunchPart& part, int k, int n, Taken& taken, size_t first) {
  const Launch& launch = *part.launch;
  const int64_t shares = std::min(n, launch.threads);
  const int64_t own = (k - launch.first_thread % n + n) % n;
  if (own >= shares) return;
  const int64_t grain = launch.kernel->form().grain;
  const int64_t grains = (launch.points + grain - 1) / grain;
  void* scratch = static_cast<std::byte*>(part.scratch) + own * launch.scratch_bytes;
  auto run_grains = [&](int64_t from, int64_t to) {
    launch.kernel->function()(part.params.data(), launch.variables.data(),
                              std::min(launch.points, from * grain),
                              std::min(launch.points, to * grain), scratch);
  };
  const bool in_pieces = launch.pieces > 1 && first + static_cast<size_t>(shares) <= Taken::kMost;
  for (int64_t i = 0; i < (in_pieces ? shares : 1); ++i) {
    const int64_t share = (own + i) % shares;
    const int64_t begin = grains * share / shares, end = grains * (share + 1) / shares;
    if (!in_pieces) return run_grains(begin, end);
    const int64_t piece = std::max<int64_t>(1, (end - begin) / launch.pieces);
    const size_t count = first + static_cast<size_t>(share);
    for (int64_t at = taken.take(count, piece); begin + at < end; at = taken.take(count, piece)) {
      run_grains(begin + at, std::min(begin + at + piece, end));
    }
  }
}

// Runs thread k's shares of all launches.
void run_shares(std::span<const LaunchPart> parts, int k, int n, Taken& taken) {
  size_t first = 0;
  for (const LaunchPart& part : parts) {
    run_share(part, k, n, taken, first);
    first += static_cast<size_t>(std::min(n, part.launch->threads));
  }
}

int32_t& mark_of(const LaunchPart& part, int thread) {
  auto* scratch = static_cast<std::byte*>(part.scratch) + thread * part.launch->scratch_bytes;
  return *reinterpret_cast<int32_t*>(scratch + kStrayRowMark);
}

// Visits the out-of-range marks of all threads, to clear them before a launch and read them after.
template <typename Function>
void for_each_mark(std::span<const LaunchPart> parts, Function function) {
  for (const LaunchPart& part : parts) {
    if (!part.launch->kernel->form().looks_at_rows) continue;
    for (int k = 0; k < part.launch->threads; ++k) function(mark_of(part, k));
  }
}

double microseconds(std::span<const LaunchPart> parts) {
  double us = 0;
  for (const LaunchPart& part : parts) us += part.launch->us;
  return us;
}

// Runs all points on the calling thread.
void run_here(const LaunchPart& part) {
  const Launch& launch = *part.launch;
  launch.kernel->function()(part.params.data(), launch.variables.data(), 0, launch.points,
                            part.scratch);
}

void run_on_threads(std::span<const LaunchPart> parts, int team) {
  if (parts.empty()) return;
  if (team <= 1) {
    std::ranges::for_each(parts, run_here);
    return;
  }
  Taken taken;
  runtime::run_shares(team, microseconds(parts), [&](int k) { run_shares(parts, k, team, taken); });
}

}  // namespace

Launch prepare_launch(const CompiledKernel& kernel, std::span<const int64_t> variables,
                      const LaunchOptions& options) {
  const kernel::Kernel& source = kernel.kernel();
  LUMINAL_CHECK(variables.size() == source.variables.size(),
                "a kernel got the wrong number of variables");
  Bindings bindings;
  for (size_t k = 0; k < variables.size(); ++k) {
    bindings.set(source.variables[k].name(), variables[k]);
  }
  Launch launch{.kernel = &kernel, .variables = {variables.begin(), variables.end()}};
  const LaunchForm& form = kernel.form();
  launch.points = evaluate(form.points, bindings);
  launch.scratch_bytes = evaluate(form.scratch_bytes, bindings);
  const auto bytes = static_cast<double>(evaluate(source.bytes_read, bindings)) +
                     static_cast<double>(evaluate(source.bytes_written, bindings));
  const auto ops = static_cast<double>(evaluate(source.flops, bindings));
  const runtime::ThreadSpeed& speed = options.speed;
  launch.us = std::max(bytes / speed.bytes, ops / speed.ops);
  const int64_t grains = launch.points / form.grain;
  if (launch.us >= options.min_parallel_us) {
    launch.threads = static_cast<int>(std::clamp<int64_t>(grains, 1, options.threads));
    launch.team = launch.threads == 1 ? 1 : options.threads;
    const double rate = form.tiled ? speed.products : speed.ops;
    const double us = std::max(bytes / speed.bytes, ops / rate) / launch.threads;
    const int most = form.copies_rows ? kMostPiecesWithRows : kMostPieces;
    launch.pieces = static_cast<int>(std::clamp<double>(us / kPieceMicroseconds, 1, most));
  }
  return launch;
}

void share_threads(std::span<Launch* const> launches, const LaunchOptions& options) {
  std::vector<double> busy(static_cast<size_t>(options.threads), 0);
  double all = 0;
  for (const Launch* launch : launches) {
    all += launch->us;
    if (launch->threads == 1) continue;
    for (int k = 0; k < launch->threads; ++k)
      busy[static_cast<size_t>(k)] += launch->us / launch->threads;
  }
  if (all < options.min_parallel_us) return;
  for (Launch* launch : launches) {
    launch->team = options.threads;
    if (launch->threads > 1) continue;
    const auto least = std::ranges::min_element(busy);
    *least += launch->us;
    launch->first_thread = static_cast<int>(least - busy.begin());
  }
}

bool run(const Launch& launch, std::span<const void* const> params, void* scratch) {
  const LaunchPart part{&launch, params, scratch};
  if (launch.team > 1) return run_side_by_side({&part, 1});
  // A fast path: small kernels take only tens of nanoseconds.
  check_alignment(part);
  if (!launch.kernel->form().looks_at_rows) {
    run_here(part);
    return true;
  }
  int32_t& mark = mark_of(part, 0);
  mark = 0;
  run_here(part);
  return mark == 0;
}

bool run_side_by_side(std::span<const LaunchPart> parts, std::span<const LaunchPart> then) {
  int team = 1;
  for (const std::span<const LaunchPart> list : {parts, then}) {
    for (const LaunchPart& part : list) {
      check_alignment(part);
      team = std::max(team, part.launch->team);
    }
  }
  for_each_mark(parts, [](int32_t& mark) { mark = 0; });
  for_each_mark(then, [](int32_t& mark) { mark = 0; });
  run_on_threads(parts, team);
  run_on_threads(then, team);
  bool inside = true;
  for_each_mark(parts, [&](int32_t mark) { inside &= mark == 0; });
  for_each_mark(then, [&](int32_t mark) { inside &= mark == 0; });
  return inside;
}

}  // namespace luminal::backends::cpu
