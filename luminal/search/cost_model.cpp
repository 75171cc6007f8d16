#include "luminal/search/cost_model.h"

#include <algorithm>
#include <limits>
#include <set>

#include "luminal/kernel/contraction_form.h"
#include "luminal/kernel/inst_uses.h"
#include "luminal/kernel/row_block_form.h"
#include "luminal/kernel/split_softmax.h"
#include "luminal/kernel/stage.h"

namespace luminal::search {
namespace {

// What is too large for 64 bits is too slow to matter how much.
double value(Expr expr, const Bindings& sizes) {
  return static_cast<double>(expr.evaluate(sizes).value.value_or(INT64_MAX));
}

// Of the outer points together, on all threads.
double contraction_seconds(const kernel::Kernel& kernel, const kernel::ContractionForm& form,
                           const MachineModel& machine, const Bindings& sizes) {
  const kernel::ContractionWork work = kernel::work_of(kernel, form);
  return 2 * value(work.products, sizes) / machine.product_flops_per_second +
         2 * value(work.exact_products, sizes) / machine.exact_product_flops_per_second +
         value(work.other_flops, sizes) / machine.flops_per_second;
}

// Tiles are read, multiplied and written one after the other: a part of the shorter time adds to
// the longer one.
constexpr double kTiledWaiting = 0.25;
// Copies of what rows share are written and read again: near the processor if they are small.
constexpr double kNearBytes = 4 << 20;
constexpr double kNearWeightBytes = 512 << 10;
constexpr double kNearSpeed = 8;
// An f32 times a bf16, where those are fast: as three products of bf16.
constexpr double kPartsOfF32 = 3;

double row_block_seconds(const kernel::Kernel& kernel, const kernel::RowBlockForm& form,
                         const MachineModel& machine, const Bindings& sizes) {
  const kernel::RowBlockWork work = kernel::work_of(kernel, form);
  const double shared = 4 * value(work.shared, sizes);
  const double others = std::max(1.0, value(work.shared_points, sizes));
  // What all threads need at once, as weights are, is read from memory unless it is small; keys and
  // values of a head were computed just before.
  const bool near = shared / others <= (others < machine.threads ? kNearWeightBytes : kNearBytes);
  const double speed = machine.bytes_per_second * (near ? kNearSpeed : 1);
  const double copies = std::max(1.0, machine.threads / others);
  const double half = std::max(machine.product_flops_per_second,
                               machine.exact_product_flops_per_second / kPartsOfF32);
  return 2 * value(work.products, sizes) / machine.product_flops_per_second +
         2 * value(work.half_products, sizes) / half +
         2 * value(work.exact_products, sizes) / machine.exact_product_flops_per_second +
         value(work.other_flops, sizes) / machine.flops_per_second + 2 * copies * shared / speed;
}

// What a scatter copies before it updates rows, read and written: by itself, so that nothing seems
// to cost no time beside it. Where a state is updated in place there is nothing to copy.
double copied_bytes(const kernel::Kernel& kernel, const Bindings& sizes) {
  double bytes = 0;
  for (const kernel::Stage& stage : kernel.stages) {
    if (!kernel::copies_shared(kernel, stage)) continue;
    const int param = std::get<kernel::OutputTarget>(stage.target).param;
    const kernel::Param& output = kernel.params[static_cast<size_t>(param)];
    bytes += 2 * value(n_elements(output.dims), sizes) * bits(output.dtype) / 8;
  }
  return bytes;
}

// Of the first kernel of a split softmax, whose rows look at keys together: what doesn't depend on
// rows, or on keys, is computed once for all of them.
double shared_seconds(const kernel::Kernel& kernel, const MachineModel& machine,
                      const Bindings& sizes) {
  double seconds = 0;
  for (const kernel::Stage& stage : kernel.stages) {
    std::set<int> around(stage.loops.begin(), stage.loops.end());
    if (stage.reduction) around.insert(stage.reduction->loop);
    auto points = [&](const std::set<int>& used) {
      double count = 1;
      for (int loop = 0; loop < static_cast<int>(kernel.loops.size()); ++loop) {
        const bool runs = loop < kernel.n_outer || (around.contains(loop) && used.contains(loop));
        if (runs) count *= value(kernel.loops[static_cast<size_t>(loop)].extent, sizes);
      }
      return count;
    };
    const bool sums_products = stage.reduction && stage.reduction->reducer == Reducer::Sum;
    for (size_t k = 0; k < stage.body.size(); ++k) {
      const auto* op = std::get_if<kernel::OpInst>(&stage.body[k].what);
      if (op == nullptr) continue;
      const kernel::InstId id{static_cast<uint32_t>(k)};
      const bool product = sums_products && id == stage.result && op->op == Op::Mul;
      const double flops = kernel::flops_of(op->op) * points(uses_of(kernel, stage, id).loops);
      seconds += flops / (product ? machine.product_flops_per_second : machine.flops_per_second);
    }
    if (stage.reduction) {
      seconds += points(around) /
                 (sums_products ? machine.product_flops_per_second : machine.flops_per_second);
    }
  }
  return seconds;
}

}  // namespace

Bindings representative_sizes(const std::vector<Expr>& variables, const Bindings& sizes) {
  constexpr int64_t kTypical = 128;
  Bindings result;
  for (Expr variable : variables) {
    const int64_t typical = std::clamp(kTypical, variable.lower_bound(), variable.upper_bound());
    result.set(variable.name(), sizes.find(variable.name()).value_or(typical));
  }
  return result;
}

double seconds(const kernel::Kernel& kernel, const MachineModel& machine, const Bindings& sizes) {
  if (const auto split = kernel::split_softmax(kernel)) {  // in one launch
    MachineModel no_flops = machine;
    no_flops.flops_per_second = std::numeric_limits<double>::infinity();
    return std::max(seconds(split->ranges, no_flops, sizes),
                    shared_seconds(split->ranges, machine, sizes)) +
           seconds(split->together, machine, sizes) - machine.launch_seconds;
  }
  double points = 1;
  for (int loop = 0; loop < kernel.n_outer; ++loop) {
    points *= value(kernel.loops[static_cast<size_t>(loop)].extent, sizes);
  }
  int entered = 0;
  for (const kernel::Stage& stage : kernel.stages) {
    entered += stage.reduction.has_value() || !stage.loops.empty();
  }
  const double share = std::min(points, static_cast<double>(machine.threads)) / machine.threads;
  const double parallel = std::max(share, 1.0 / machine.threads);
  const double copied = copied_bytes(kernel, sizes);
  const double bytes =
      value(kernel.bytes_read, sizes) + value(kernel.bytes_written, sizes) - copied;
  const double memory = bytes / (machine.bytes_per_second * parallel);
  const double entering = points * entered * machine.stage_seconds / (machine.threads * parallel);
  double compute = 0;
  bool tiled = true;
  if (const auto form = kernel::contraction_form(kernel)) {
    compute = contraction_seconds(kernel, *form, machine, sizes) / parallel;
  } else if (const auto rows = kernel::row_block_form(kernel)) {
    compute = row_block_seconds(kernel, *rows, machine, sizes) / parallel + entering;
  } else {
    compute = value(kernel.flops, sizes) / (machine.flops_per_second * parallel) + entering;
    tiled = false;
  }
  const double waiting = tiled ? kTiledWaiting * std::min(memory, compute) : 0;
  return std::max(memory, compute) + waiting + copied / machine.bytes_per_second +
         machine.launch_seconds;
}

}  // namespace luminal::search
