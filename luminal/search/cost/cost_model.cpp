#include "luminal/search/cost/cost_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "luminal/kernel/ir/inst_uses.h"
#include "luminal/kernel/lower/stage.h"
#include "luminal/kernel/recognise/forms.h"
#include "luminal/search/cost/contraction_cost.h"
#include "luminal/search/cost/kernel_features.h"

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

void add_row_blocks(const kernel::Kernel& kernel, const kernel::RowBlockForm& form,
                    const MachineModel& machine, const Bindings& sizes, CostParts& parts) {
  const kernel::RowBlockWork work = kernel::work_of(kernel, form);
  const double shared = 4 * value(work.shared, sizes);
  const double others = std::max(1.0, value(work.shared_points, sizes));
  // Factors that all threads need at once, such as weights, come from memory unless they are small;
  // keys and values of a head have just been computed.
  const bool near = shared / others <= (others < machine.threads ? kNearWeightBytes : kNearBytes);
  const double speed = near ? machine.near_bytes_per_second : machine.bytes_per_second;
  const double copies = std::max(1.0, machine.threads / others);
  parts.of(CostPart::Products) =
      2 * value(work.products, sizes) / machine.product_flops_per_second +
      2 * value(work.half_products, sizes) / machine.half_product_flops_per_second() +
      2 * value(work.exact_products, sizes) / machine.exact_product_flops_per_second;
  parts.of(CostPart::Arithmetic) = value(work.other_flops, sizes) / machine.flops_per_second;
  parts.of(CostPart::Reordered) = 2 * copies * shared / speed;
}

// Elements by index, and elements that don't lie beside their neighbours.
constexpr double kElementSeconds = 1e-9;

void add_contraction(const kernel::Kernel& kernel, const kernel::ContractionForm& form,
                     const MachineModel& machine, const Bindings& sizes, CostParts& parts) {
  const ContractionSeconds seconds = contraction_seconds(kernel, form, machine, sizes);
  parts.of(CostPart::Products) = seconds.products;
  parts.of(CostPart::Arithmetic) = seconds.arithmetic;
  parts.of(CostPart::Reordered) = seconds.reordered;
  parts.of(CostPart::Widened) = seconds.widened;
  parts.of(CostPart::Computed) = seconds.computed;
  parts.of(CostPart::Sums) = seconds.sums;
}

KernelKind kind_of(const kernel::Kernel& kernel, const kernel::ContractionForm& form, bool windowed,
                   const Bindings& sizes) {
  const kernel::ContractionWork work = kernel::work_of(kernel, form);
  double rows = 1;
  for (kernel::LoopId loop : form.rows) rows *= value(extent_of(kernel, loop), sizes);
  const bool quantised = value(work.integer_products, sizes) > 0;
  if (rows <= kernel::kMostStreamedRows) {
    if (windowed) return KernelKind::StreamedWindowed;
    return quantised ? KernelKind::StreamedQuantised : KernelKind::Streamed;
  }
  if (windowed) return KernelKind::Windowed;
  if (quantised) return KernelKind::QuantisedGemm;
  const bool half = std::ranges::any_of(kernel.params, [](const kernel::Param& param) {
    return param.dtype == DType::BF16 || param.dtype == DType::F16;
  });
  return half ? KernelKind::HalfGemm : KernelKind::Gemm;
}

// The parts of a kernel without tiles that a calibration tells apart.
void tell_apart(const KernelFeatures& features, const MachineModel& machine, double untiled,
                CostParts& parts) {
  const auto flops_seconds = [&](double flops) { return flops / machine.flops_per_second; };
  parts.of(CostPart::Divisions) = flops_seconds(features.divisions);
  parts.of(CostPart::Transcendentals) = flops_seconds(features.transcendentals);
  parts.of(CostPart::Products) = flops_seconds(untiled);
  double& arithmetic = parts.of(CostPart::Arithmetic);
  arithmetic = std::max(0.0, arithmetic - parts.of(CostPart::Divisions) -
                                 parts.of(CostPart::Transcendentals) - flops_seconds(untiled));
  parts.of(CostPart::Converted) = flops_seconds(features.converted);
  parts.of(CostPart::Functions) = flops_seconds(features.of_f16);
  parts.of(CostPart::Strided) = features.strided * kElementSeconds / machine.threads;
  parts.of(CostPart::Rows) = features.looked_up * kElementSeconds / machine.threads;
  if (untiled > 0) {
    parts.kind = KernelKind::Untiled;
  } else if (features.looks_up) {
    parts.kind = KernelKind::Indexed;
  } else {
    parts.kind = features.reduces ? KernelKind::Reduction : KernelKind::ElementWise;
  }
}

CostPart bytes_part(DataIn data_in) {
  switch (data_in) {
    case DataIn::Memory:
      return CostPart::Memory;
    case DataIn::L3:
      return CostPart::L3;
    case DataIn::L2:
      break;
  }
  return CostPart::L2;
}

// A launch of so little work that one thread does it all.
bool runs_alone(const kernel::Kernel& kernel, const MachineModel& machine, const Bindings& sizes) {
  const double bytes = value(kernel.bytes_read, sizes) + value(kernel.bytes_written, sizes);
  const double seconds = std::max(bytes / machine.alone_bytes_per_second,
                                  value(kernel.flops, sizes) / machine.alone_flops_per_second);
  return seconds < machine.most_seconds_alone;
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
      const double flops = static_cast<double>(kernel::flops_of(stage.body[k])) *
                           points(uses_of(kernel, stage, id).loops);
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

// `machine` has the rates that kernels reach, not peaks. `detailed`: for a calibration, with the
// parts that the uncalibrated model doesn't tell apart.
CostParts parts_of(const kernel::Kernel& kernel, const MachineModel& machine, const Bindings& sizes,
                   bool detailed) {
  CostParts parts;
  const kernel::Forms& forms = kernel::forms_of(kernel);
  if (const auto& split = forms.split) {  // in one launch
    MachineModel no_flops = machine;
    no_flops.flops_per_second = std::numeric_limits<double>::infinity();
    const auto alone = [&](const kernel::Kernel& part, const MachineModel& on) {
      return seconds(parts_of(part, on, sizes, false), no_calibration());
    };
    parts.kind = KernelKind::SplitAttention;
    parts.of(CostPart::Products) =
        std::max(alone(split->ranges, no_flops),
                 flops_seconds(shared_work(split->ranges, sizes), machine)) +
        alone(split->together, machine) - machine.launch_seconds;
    return parts;
  }
  double points = 1;
  for (kernel::LoopId loop : outer_loops(kernel)) {
    points *= value(extent_of(kernel, loop), sizes);
  }
  int entered = 0;
  for (const kernel::Stage& stage : kernel.stages) {
    entered += stage.reduction.has_value() || !stage.loops.empty();
  }
  const bool is_alone = detailed && runs_alone(kernel, machine, sizes);
  const double share = std::min(points, static_cast<double>(machine.threads)) / machine.threads;
  const double parallel = is_alone ? 1.0 / machine.threads : std::max(share, 1.0 / machine.threads);
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
  if (contraction) {
    add_contraction(kernel, *contraction, machine, sizes, parts);
    const double windowed = detailed ? windowed_elements(kernel, *contraction, sizes) : 0;
    parts.of(CostPart::Strided) = windowed * kElementSeconds / machine.threads;
    parts.kind = detailed ? kind_of(kernel, *contraction, windowed > 0, sizes) : KernelKind::Gemm;
  } else if (rows) {
    add_row_blocks(over_seen_keys(kernel, seen, sizes), *rows, machine, sizes, parts);
    const bool attends = detailed && forms.softmax;
    parts.kind = attends ? KernelKind::Attention : KernelKind::RowBlocks;
  } else {
    const bool updates = std::ranges::any_of(kernel.stages, [](const kernel::Stage& stage) {
      return std::holds_alternative<kernel::UpdateTarget>(stage.target);
    });
    const double untiled =
        2 * (updates ? kUpdatingSlowdown : kUntiledSlowdown) * untiled_products(kernel, sizes);
    parts.of(CostPart::Arithmetic) =
        (value(kernel.flops, sizes) + untiled) / machine.flops_per_second;
    const KernelFeatures features = features_of(kernel, sizes);
    if (detailed) tell_apart(features, machine, untiled, parts);
    parts.of(CostPart::Arithmetic) += features.scattered * kElementSeconds / machine.threads;
  }
  for (double& part : parts.seconds) part /= parallel;
  if (!contraction) {
    parts.of(CostPart::Entering) = points * entered * kStageSeconds / (machine.threads * parallel);
  }
  parts.of(bytes_part(machine.data_in)) =
      (std::max(0.0, bytes + repeated - hidden - streamed) / machine.bytes_per_second +
       streamed / machine.streamed_bytes_per_second) /
      parallel;
  parts.of(CostPart::Copied) = copied / machine.bytes_per_second;
  parts.of(is_alone ? CostPart::LaunchAlone : CostPart::Launch) = machine.launch_seconds;
  return parts;
}

const Calibration& calibration_of(const MachineModel& machine) {
  return machine.calibration ? *machine.calibration : no_calibration();
}

double modelled_seconds(const kernel::Kernel& kernel, const MachineModel& machine,
                        const Bindings& sizes) {
  const CostParts parts = parts_of(kernel, machine, sizes, machine.calibration != nullptr);
  return seconds(parts, calibration_of(machine));
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

CostParts cost_parts(const kernel::Kernel& kernel, const MachineModel& machine,
                     const Bindings& sizes) {
  return parts_of(kernel, reached(machine), sizes, true);
}

double seconds(const kernel::Kernel& kernel, const MachineModel& machine, const Bindings& sizes) {
  return modelled_seconds(kernel, reached(machine), sizes);
}

double seconds(const kernel::LoweredKernel& lowered, const MachineModel& machine,
               const Bindings& sizes) {
  const MachineModel model = reached(machine);
  if (!lowered.updates_state) return modelled_seconds(lowered.kernel, model, sizes);
  CostParts parts = parts_of(lowered.kernel, model, sizes, model.calibration != nullptr);
  parts.of(CostPart::Copied) = 0;
  return seconds(parts, calibration_of(model));
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
