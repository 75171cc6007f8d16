#include "luminal/backends/cpu/schedule/candidates.h"

#include <algorithm>

#include "luminal/backends/cpu/schedule/schedule.h"
#include "luminal/kernel/recognise/forms.h"
#include "luminal/kernel/recognise/quantised_form.h"

namespace luminal::backends::cpu {
namespace {

using kernel::Knob;
using kernel::Strategy;

// Multiply-adds up to which a GEMM or attention is also tried stage by stage. A run can't be
// interrupted, and from here on that takes a hundred times as long as tiles do.
constexpr int64_t kMostProductsByLoops = 4 << 20;

// So many products of an element of a right factor, at most, and loops are never that slow: they
// save the copy into panels.
constexpr int64_t kMostOfColumnByLoops = 256;

// The same limit for attention that may be split: stages compute ranges of keys as they compute all
// of them, so loops are slower by no more than the number of threads.
constexpr int64_t kMostOfRangesByLoops = 64 << 20;

// Split attention is two kernels, which have schedules of their own.
Schedule schedule_of(const kernel::KernelStep& step, const Target& target) {
  if (step.strategy == Strategy::SplitAttention) return {};
  return make_schedule(step.lowered.kernel, target,
                       {.strategy = step.strategy, .choices = step.schedule});
}

class Candidates {
 public:
  Candidates(const kernel::KernelStep& step, const Target& target, bool reorder_sums)
      : step_(step),
        kernel_(step.lowered.kernel),
        schedule_(schedule_of(step, target)),
        reorder_sums_(reorder_sums) {}

  std::vector<kernel::StepChoice> all() {
    if (step_.strategy == Strategy::SplitAttention) {
      of_ranges();
    } else if (schedule_.tiling) {
      of_tiling(*schedule_.tiling);
    } else if (schedule_.row_blocks) {
      of_row_blocks(*schedule_.row_blocks);
    } else {
      of_loops();
    }
    other_strategies();
    return std::move(found_);
  }

 private:
  // Offers the values that differ from `own`.
  void offer(Knob knob, int64_t own, std::initializer_list<int64_t> values) {
    const kernel::KnobInfo& known = kernel::info(knob);
    if (known.effect == kernel::KnobEffect::Sums && !reorder_sums_) return;
    for (int64_t value : values) {
      if (value == own || value < known.least || value > known.most) continue;
      found_.push_back({.strategy = step_.strategy, .schedule = {{knob, value}}});
    }
  }

  void of_ranges() {
    const kernel::Forms& forms = kernel::forms_of(kernel_);
    const int64_t keys = extent_of(kernel_, forms.softmax->keys[0]).upper_bound();
    const int64_t own = step_.schedule.get(Knob::KeysOfRange, forms.keys_of_range);
    for (int64_t length : {32, 64, 128, 256, 512, 1024}) {
      if (length < keys) offer(Knob::KeysOfRange, own, {length});
    }
  }

  void of_tiling(const Tiling& tiling) {
    const bool vectors = !tiling.integers_on_tiles && !on_tiles(tiling.multiply);
    const bool quantised = std::ranges::any_of(tiling.contractions, [](const auto& c) {
      return c.quantised.has_value() || c.made_of.has_value();
    });
    if (vectors && !quantised) {
      // AVX-512 has registers for 4 × 6, 6 × 4, 8 × 3, 12 × 2 and 14 × 2; others for half of it.
      const int64_t rows = tiling.shape.rows;
      if (rows > 1) offer(Knob::TileRows, rows, {4, 6, 8, 12, 14});
    }
    if (!quantised) {
      const int64_t columns = tiling.block_columns;
      offer(Knob::BlockColumns, columns, {columns / 2, columns * 2});
      if (tiling.row_loop.valid()) {
        offer(Knob::BlockRows, tiling.block_rows, {tiling.block_rows / 2, tiling.block_rows * 2});
      }
      if (vectors) offer(Knob::BlockK, tiling.block_k, {256, 512, 2048});
      if (tiling.windows) offer(Knob::Windows, 1, {0});
    } else {
      const bool streams = std::ranges::any_of(
          tiling.contractions, [](const auto& c) { return c.quantised.has_value(); });
      if (tiling.row_loop.valid()) offer(Knob::StreamedRows, streams ? 64 : 0, {0, 16, 64});
      if (streams && !tiling.integers_on_tiles) of_streamed_integers(tiling);
    }
    const bool gemv = tiling.shape.rows <= 8 && !tiling.integers_on_tiles;
    if (gemv && !tiling.windows) offer(Knob::PrefetchBytes, kPanelBytesAhead, {1024, 4096, 8192});
  }

  void of_streamed_integers(const Tiling& tiling) {
    const bool digits = std::ranges::any_of(tiling.contractions, [](const auto& c) {
      return c.quantised.has_value() && c.quantised->fixed_point.has_value();
    });
    if (digits) offer(Knob::Digits, 1, {0});
    offer(Knob::UnrollK, digits ? 32 : 16, {8, 16, 32, 64});
  }

  void of_row_blocks(const RowBlocks& blocks) {
    const bool tiles = std::ranges::any_of(blocks.contractions,
                                           [](const auto& c) { return on_tiles(c.multiply); });
    if (tiles) return;
    const int64_t step = blocks.contractions.front().shape.rows;
    offer(Knob::BlockRows, blocks.rows, {2 * step, 4 * step, 6 * step, 8 * step});
    offer(Knob::BlockK, blocks.contractions.front().block_k, {128, 512});
  }

  void of_loops() {
    const bool unrolls = std::ranges::any_of(
        schedule_.stages, [](const ScheduledStage& s) { return !s.source->reduction; });
    const int64_t unroll = schedule_.vector_outer ? schedule_.unroll : 0;
    if (unrolls) offer(Knob::Unroll, unroll, {1, 2, 4, 8});
    if (kernel_.bytes_written.upper_bound() >= kWorthStreaming) {
      offer(Knob::Streams, -1, {0, 1});
    }
    if (!schedule_.prefetches.empty()) offer(Knob::Prefetch, 1, {0});
    const bool ahead = schedule_.stages.size() == 1 && !schedule_.prefetches.empty();
    if (ahead) offer(Knob::PrefetchBytes, 4096, {1024, 2048, 8192});
    if (!schedule_.shared_rows.empty()) offer(Knob::SharedRows, 1, {0});
  }

  void other_strategies() {
    if (!reorder_sums_) return;
    for (Strategy strategy : kernel::strategies(kernel_)) {
      if (strategy == step_.strategy) continue;
      if (strategy == Strategy::Loops && is_slow_by_loops()) continue;
      found_.push_back({.strategy = strategy});
    }
  }

  bool is_slow_by_loops() const {
    const bool splits = kernel::forms_of(kernel_).keys_of_range > 0;
    const int64_t most = splits ? kMostOfRangesByLoops : kMostProductsByLoops;
    if (kernel_.flops.upper_bound() <= 2 * most) return false;
    const auto& form = kernel::forms_of(kernel_).contraction;
    return !form || kernel::products_of_column(kernel_, *form).upper_bound() > kMostOfColumnByLoops;
  }

  // Non-temporal stores of less than this are never worth a try: a cache holds it.
  static constexpr int64_t kWorthStreaming = 256 << 10;

  const kernel::KernelStep& step_;
  const kernel::Kernel& kernel_;
  Schedule schedule_;
  bool reorder_sums_;
  std::vector<kernel::StepChoice> found_;
};

}  // namespace

std::vector<kernel::StepChoice> candidates(const kernel::KernelStep& step, const Target& target,
                                           bool reorder_sums) {
  if (step.strategy == Strategy::Library || !step.packs.empty()) return {};
  return Candidates(step, target, reorder_sums).all();
}

}  // namespace luminal::backends::cpu
