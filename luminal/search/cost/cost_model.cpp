#include "luminal/search/cost/cost_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "luminal/kernel/ir/inst_uses.h"
#include "luminal/kernel/lower/stage.h"
#include "luminal/kernel/recognise/forms.h"
#include "luminal/search/cost/contraction_cost.h"

namespace luminal::search {
namespace {

// Shares of the machine's peaks that kernels reach, by the benches of primitives, patterns and
// products.
constexpr double kBytesReached = 0.9;
constexpr double kFlopsReached = 0.66;
constexpr double kTilesReached = 0.28;  // of bf16 GEMMs on tiles (AMX): loading tiles takes as long
constexpr double kStageSeconds = 4e-9;  // to enter a stage's loops, per outer point

// A multiply-add outside of tiles takes this many times longer than element-wise work; in a kernel
// that updates rows, its vectors run across the rows of weights.
constexpr double kUntiledSlowdown = 5;
constexpr double kUpdatingSlowdown = 25;

// Multiply-adds of two different factors in a kernel that is neither a GEMM nor row blocks: weights
// aren't packed there, and shared factors are read again for each result. Attention has none.
double untiled_products(const kernel::Kernel& kernel, const Bindings& sizes) {
  if (kernel::forms_of(kernel).softmax) return 0;
  double products = 0;
  for (const kernel::Stage& stage : kernel.stages) {
    if (!stage.reduction || stage.reduction->reducer != Reducer::Sum) continue;
    const auto* product = std::get_if<kernel::OpInst>(&stage.body[stage.result.index()].what);
    if (product == nullptr || product->op != Op::Mul) continue;
    if (product->operands[0] == product->operands[1]) continue;
    auto extent = [&](kernel::LoopId loop) { return value(extent_of(kernel, loop), sizes); };
    double count = extent(stage.reduction->loop);
    for (kernel::LoopId loop : outer_loops(kernel)) count *= extent(loop);
    for (kernel::LoopId loop : stage.loops) count *= extent(loop);
    products += count;
  }
  return products;
}

// Loading, multiplying and storing of tiles overlap only in part: this share of the shorter time
// adds to the longer one.
constexpr double kTiledWaiting = 0.25;
// Copies of the factors that rows share are written and read again, in cache if they are small.
constexpr double kNearBytes = 4 << 20;
constexpr double kNearWeightBytes = 512 << 10;
// Outputs of this size are written past the caches, but not those of GEMMs.
constexpr double kStreamedBytes = 4 << 20;

// The share of keys that a positional mask leaves visible to the middle row. The others are neither
// read nor multiplied.
struct SeenKeys {
  std::vector<kernel::LoopId> loops;  // over keys
  double share = 1;
};

SeenKeys seen_keys(const kernel::Kernel& kernel, const Bindings& sizes) {
  const auto& masked = kernel::forms_of(kernel).masked;
  if (!masked || masked->loops.empty()) return {};
  std::vector<int64_t> middle;
  for (const kernel::Loop& loop : kernel.loops) {
    middle.push_back(loop.extent.evaluate(sizes).value.value_or(1) / 2);
  }
  const double keys = value(extent_of(kernel, masked->loops.front()), sizes);
  double first = 0, last = keys - 1;
  for (const auto& bound : masked->first) {
    if (const auto at = bound.index.evaluate(sizes, middle).value) {
      first = std::max(first, static_cast<double>(*at));
    }
  }
  for (const auto& bound : masked->last) {
    if (const auto at = bound.index.evaluate(sizes, middle).value) {
      last = std::min(last, static_cast<double>(*at));
    }
  }
  if (keys < 1) return {};
  return {masked->loops, std::clamp((last - first + 1) / keys, 1 / keys, 1.0)};
}

// The kernel with its loops over keys restricted to the visible ones; other loops, such as those
// that compute the queries, keep their extents.
kernel::Kernel over_seen_keys(const kernel::Kernel& kernel, const SeenKeys& seen,
                              const Bindings& sizes) {
  kernel::Kernel result = kernel;
  for (kernel::LoopId loop : seen.loops) {
    Expr& extent = result.loops[loop].extent;
    extent = Expr(static_cast<int64_t>(std::ceil(value(extent, sizes) * seen.share)));
  }
  return result;
}

// Bytes of masked keys and values.
double hidden_bytes(const kernel::Kernel& kernel, const SeenKeys& seen, const Bindings& sizes) {
  std::set<kernel::ParamId> hidden;
  for (const kernel::Stage& stage : kernel.stages) {
    for (const kernel::Inst& inst : stage.body) {
      const auto* load = std::get_if<kernel::LoadInst>(&inst.what);
      if (load == nullptr) continue;
      const bool by_key = std::ranges::any_of(load->index, [&](const auto& index) {
        return std::ranges::any_of(
            seen.loops, [&](kernel::LoopId loop) { return uses_loop(index.expr, loop); });
      });
      if (by_key) hidden.insert(load->param);
    }
  }
  double bytes = 0;
  for (kernel::ParamId param : hidden) {
    const kernel::Param& read = kernel.params[param];
    bytes += value(n_elements(read.dims), sizes) * bits(read.dtype) / 8;
  }
  return bytes * (1 - seen.share);
}

double row_block_seconds(const kernel::Kernel& kernel, const kernel::RowBlockForm& form,
                         const MachineModel& machine, const Bindings& sizes) {
  const kernel::RowBlockWork work = kernel::work_of(kernel, form);
  const double shared = 4 * value(work.shared, sizes);
  const double others = std::max(1.0, value(work.shared_points, sizes));
  // Factors that all threads need at once, such as weights, come from memory unless they are small;
  // keys and values of a head have just been computed.
  const bool near = shared / others <= (others < machine.threads ? kNearWeightBytes : kNearBytes);
  const double speed = near ? machine.near_bytes_per_second : machine.bytes_per_second;
  const double copies = std::max(1.0, machine.threads / others);
  return 2 * value(work.products, sizes) / machine.product_flops_per_second +
         2 * value(work.half_products, sizes) / machine.half_product_flops_per_second() +
         2 * value(work.exact_products, sizes) / machine.exact_product_flops_per_second +
         value(work.other_flops, sizes) / machine.flops_per_second + 2 * copies * shared / speed;
}

// Bytes that a scatter copies before it updates rows, read and written. They are charged
// separately, so that no other work seems free beside them. Where a state is updated in place there
// is nothing to copy.
double copied_bytes(const kernel::Kernel& kernel, const Bindings& sizes) {
  double bytes = 0;
  for (const kernel::Stage& stage : kernel.stages) {
    if (!kernel::copies_shared(kernel, stage)) continue;
    const kernel::ParamId param = std::get<kernel::OutputTarget>(stage.target).param;
    const kernel::Param& output = kernel.params[param];
    bytes += 2 * value(n_elements(output.dims), sizes) * bits(output.dtype) / 8;
  }
  return bytes;
}

// The work of the first kernel of a split softmax (flash decoding), whose rows share a pass over
// the keys: what doesn't depend on rows, or on keys, is computed once for all of them.
LeastWork shared_work(const kernel::Kernel& kernel, const Bindings& sizes) {
  LeastWork work;
  for (const kernel::Stage& stage : kernel.stages) {
    std::set<kernel::LoopId> around(stage.loops.begin(), stage.loops.end());
    if (stage.reduction) around.insert(stage.reduction->loop);
    auto points = [&](const std::set<kernel::LoopId>& used) {
      double count = 1;
      for (kernel::LoopId loop : kernel.loops.ids()) {
        const bool runs = is_outer(kernel, loop) || (around.contains(loop) && used.contains(loop));
        if (runs) count *= value(extent_of(kernel, loop), sizes);
      }
      return count;
    };
    const bool sums_products = stage.reduction && stage.reduction->reducer == Reducer::Sum;
    for (size_t k = 0; k < stage.body.size(); ++k) {
      const auto* op = std::get_if<kernel::OpInst>(&stage.body[k].what);
      if (op == nullptr) continue;
      const auto id = kernel::InstId::at(k);
      const bool product = sums_products && id == stage.result && op->op == Op::Mul;
      const double flops = flops_of(op->op) * points(uses_of(kernel, stage, id).loops);
      if (product) {
        work.products += flops / 2;
      } else {
        work.other_flops += flops;
      }
    }
    if (!stage.reduction) continue;
    if (sums_products) {
      work.products += points(around) / 2;
    } else {
      work.other_flops += points(around);
    }
  }
  return work;
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

namespace {

// `machine` has the rates that kernels reach, not peaks.
double modelled_seconds(const kernel::Kernel& kernel, const MachineModel& machine,
                        const Bindings& sizes) {
  const kernel::Forms& forms = kernel::forms_of(kernel);
  if (const auto& split = forms.split) {  // in one launch
    MachineModel no_flops = machine;
    no_flops.flops_per_second = std::numeric_limits<double>::infinity();
    return std::max(modelled_seconds(split->ranges, no_flops, sizes),
                    flops_seconds(shared_work(split->ranges, sizes), machine)) +
           modelled_seconds(split->together, machine, sizes) - machine.launch_seconds;
  }
  double points = 1;
  for (kernel::LoopId loop : outer_loops(kernel)) {
    points *= value(extent_of(kernel, loop), sizes);
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
  const auto& contraction = forms.contraction;
  const double repeated = contraction ? repeated_bytes(kernel, *contraction, sizes) : 0;
  const auto& rows = forms.row_blocks;
  const SeenKeys seen = rows ? seen_keys(kernel, sizes) : SeenKeys();
  const double hidden = hidden_bytes(kernel, seen, sizes);
  const double written = value(kernel.bytes_written, sizes);
  const bool streams = written >= kStreamedBytes && !contraction && copied == 0;
  const double streamed = streams ? written : 0;
  const double memory =
      (std::max(0.0, bytes + repeated - hidden - streamed) / machine.bytes_per_second +
       streamed / machine.streamed_bytes_per_second) /
      parallel;
  const double entering = points * entered * kStageSeconds / (machine.threads * parallel);
  double compute = 0;
  bool tiled = true;
  if (contraction) {
    compute = contraction_seconds(kernel, *contraction, machine, sizes) / parallel;
  } else if (rows) {
    const double rows_alone =
        row_block_seconds(over_seen_keys(kernel, seen, sizes), *rows, machine, sizes);
    compute = rows_alone / parallel + entering;
  } else {
    const bool updates = std::ranges::any_of(kernel.stages, [](const kernel::Stage& stage) {
      return std::holds_alternative<kernel::UpdateTarget>(stage.target);
    });
    const double flops =
        value(kernel.flops, sizes) +
        2 * (updates ? kUpdatingSlowdown : kUntiledSlowdown) * untiled_products(kernel, sizes);
    compute = flops / (machine.flops_per_second * parallel) + entering;
    tiled = false;
  }
  const double waiting = tiled ? kTiledWaiting * std::min(memory, compute) : 0;
  return std::max(memory, compute) + waiting + copied / machine.bytes_per_second +
         machine.launch_seconds;
}

}  // namespace

MachineModel reached(const MachineModel& peaks) {
  MachineModel model = peaks;
  model.bytes_per_second *= kBytesReached;
  model.near_bytes_per_second *= kBytesReached;
  model.streamed_bytes_per_second *= kBytesReached;
  model.flops_per_second *= kFlopsReached;
  model.product_flops_per_second *= kFlopsReached;
  // bf16 GEMMs that are many times as fast as f32 ones run on tiles (AMX).
  const bool tiles = peaks.exact_product_flops_per_second > 4 * peaks.product_flops_per_second;
  model.exact_product_flops_per_second *= tiles ? kTilesReached : kFlopsReached;
  model.launch_seconds += model.step_seconds;
  return model;
}

double seconds(const kernel::Kernel& kernel, const MachineModel& machine, const Bindings& sizes) {
  return modelled_seconds(kernel, reached(machine), sizes);
}

double seconds(const kernel::LoweredKernel& lowered, const MachineModel& machine,
               const Bindings& sizes) {
  const MachineModel model = reached(machine);
  const double all = modelled_seconds(lowered.kernel, model, sizes);
  if (!lowered.updates_state) return all;
  return all - copied_bytes(lowered.kernel, sizes) / model.bytes_per_second;
}

LeastWork least_work(const kernel::Kernel& kernel, const Bindings& sizes) {
  const kernel::Forms& forms = kernel::forms_of(kernel);
  if (const auto& split = forms.split) {
    LeastWork work = shared_work(split->ranges, sizes);
    work.bytes = least_work(split->ranges, sizes).bytes;
    return work;
  }
  LeastWork least{.bytes = value(kernel.bytes_read, sizes) + value(kernel.bytes_written, sizes) -
                           copied_bytes(kernel, sizes)};
  if (const auto& form = forms.contraction) {
    const kernel::ContractionWork work = kernel::work_of(kernel, *form);
    least.products = value(work.products, sizes);
    least.exact_products = value(work.integer_products, sizes) + value(work.exact_products, sizes);
    least.other_flops = value(work.other_flops, sizes);
  } else if (const auto& rows = forms.row_blocks) {
    const SeenKeys seen = seen_keys(kernel, sizes);
    const kernel::RowBlockWork work = kernel::work_of(over_seen_keys(kernel, seen, sizes), *rows);
    least.bytes -= hidden_bytes(kernel, seen, sizes);
    least.products = value(work.products, sizes);
    least.exact_products = value(work.half_products, sizes) + value(work.exact_products, sizes);
    least.other_flops = value(work.other_flops, sizes);
  } else {
    least.other_flops = value(kernel.flops, sizes);
  }
  least.bytes = std::max(0.0, least.bytes);
  return least;
}

double flops_seconds(const LeastWork& work, const MachineModel& machine) {
  return 2 * work.products / machine.product_flops_per_second +
         2 * work.exact_products / machine.exact_product_flops_per_second +
         work.other_flops / machine.flops_per_second;
}

}  // namespace luminal::search
