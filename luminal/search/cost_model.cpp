#include "luminal/search/cost_model.h"

#include <algorithm>
#include <limits>
#include <set>

#include "luminal/kernel/contraction_form.h"
#include "luminal/kernel/inst_uses.h"
#include "luminal/kernel/row_block_form.h"
#include "luminal/kernel/softmax_form.h"
#include "luminal/kernel/split_softmax.h"
#include "luminal/kernel/stage.h"

namespace luminal::search {
namespace {

// What is too large for 64 bits is too slow to matter how much.
double value(Expr expr, const Bindings& sizes) {
  return static_cast<double>(expr.evaluate(sizes).value.value_or(INT64_MAX));
}

// For an element of a weight that is put into another order in every run.
constexpr double kReorderedSeconds = 10e-9;
// A product that is no part of a tile takes so many times longer than element-wise work; in a
// kernel that updates rows its vectors run across the rows of weights.
constexpr double kUntiledSlowdown = 5;
constexpr double kUpdatingSlowdown = 25;

// In elements, but for what is gathered.
template <typename Indices>
Expr address_of(const kernel::Kernel& kernel, int param, const Indices& index) {
  const std::vector<Expr> strides =
      contiguous_strides(kernel.params[static_cast<size_t>(param)].dims);
  Expr address = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    if constexpr (std::is_same_v<typename Indices::value_type, Expr>) {
      address = address + index[axis] * strides[axis];
    } else {
      address = address + index[axis].expr * strides[axis];
    }
  }
  return address;
}

// Every expression over loops that a kernel has, addresses in elements.
std::vector<Expr> exprs_of(const kernel::Kernel& kernel) {
  std::vector<Expr> exprs;
  for (const kernel::Stage& stage : kernel.stages) {
    for (const kernel::Inst& inst : stage.body) {
      if (const auto* load = std::get_if<kernel::LoadInst>(&inst.what)) {
        exprs.push_back(address_of(kernel, load->param, load->index));
      } else if (const auto* iota = std::get_if<kernel::IotaInst>(&inst.what)) {
        exprs.push_back(iota->expr);
      }
    }
    if (const auto* output = std::get_if<kernel::OutputTarget>(&stage.target)) {
      exprs.push_back(address_of(kernel, output->param, output->index));
    }
  }
  return exprs;
}

bool contains(Expr e, Expr part) {
  if (e == part) return true;
  return std::ranges::any_of(e.operands(), [&](Expr x) { return contains(x, part); });
}

// The columns that vectors run along: those of the last loop, and of loops around it as long as
// nothing in the kernel needs their indices apart, as the two halves of a rotation do.
Expr joined_columns(const kernel::Kernel& kernel, const kernel::ContractionForm& form) {
  std::vector<Expr> exprs = exprs_of(kernel);
  std::vector<Expr> indices;
  for (size_t loop = 0; loop < kernel.loops.size(); ++loop) {
    indices.push_back(Expr::index(static_cast<int>(loop), kernel.loops[loop].extent));
  }
  const int last = form.columns.back();
  Expr extent = kernel.loops[static_cast<size_t>(last)].extent;
  for (size_t n = form.columns.size() - 1; n-- > 0;) {
    const int outer = form.columns[n];
    const Expr together = kernel.loops[static_cast<size_t>(outer)].extent * extent;
    const Expr joined = Expr::index(last, together);
    std::vector<Expr> replacement = indices;
    replacement[static_cast<size_t>(outer)] = joined / extent;
    replacement[static_cast<size_t>(last)] = joined % extent;
    for (Expr& e : exprs) {
      e = e.substitute_indices(replacement);
      if (contains(e, joined / extent) || contains(e, joined % extent)) return extent;
    }
    extent = together;
    indices[static_cast<size_t>(last)] = joined;
  }
  return extent;
}

// Of right factors that are copied in every run, one by one: vectors have too few columns to read
// them from panels.
double reordered_elements(const kernel::Kernel& kernel, const kernel::ContractionForm& form,
                          const Bindings& sizes) {
  constexpr double kVector = 16;
  double columns = 1;
  for (int loop : form.columns) {
    columns *= value(kernel.loops[static_cast<size_t>(loop)].extent, sizes);
  }
  if (columns < kVector || value(joined_columns(kernel, form), sizes) >= kVector) return 0;
  double elements = 0;
  for (const kernel::Contraction& contraction : form.contractions) {
    elements += columns * value(kernel.loops[static_cast<size_t>(contraction.k)].extent, sizes);
  }
  return elements;
}

// Of two different factors, summed within a kernel of no form that products are fast in: weights
// don't lie in panels there, and what several results share is read for each. Attention has none.
double untiled_products(const kernel::Kernel& kernel, const Bindings& sizes) {
  if (kernel::softmax_form(kernel)) return 0;
  double products = 0;
  for (const kernel::Stage& stage : kernel.stages) {
    if (!stage.reduction || stage.reduction->reducer != Reducer::Sum) continue;
    const auto* product = std::get_if<kernel::OpInst>(&stage.body[stage.result.index()].what);
    if (product == nullptr || product->op != Op::Mul) continue;
    if (product->operands[0] == product->operands[1]) continue;
    auto extent = [&](int loop) {
      return value(kernel.loops[static_cast<size_t>(loop)].extent, sizes);
    };
    double count = extent(stage.reduction->loop);
    for (int loop = 0; loop < kernel.n_outer; ++loop) count *= extent(loop);
    for (int loop : stage.loops) count *= extent(loop);
    products += count;
  }
  return products;
}

// Of the outer points together, on all threads.
double contraction_seconds(const kernel::Kernel& kernel, const kernel::ContractionForm& form,
                           const MachineModel& machine, const Bindings& sizes) {
  const kernel::ContractionWork work = kernel::work_of(kernel, form);
  return 2 * value(work.products, sizes) / machine.product_flops_per_second +
         2 * value(work.exact_products, sizes) / machine.exact_product_flops_per_second +
         value(work.other_flops, sizes) / machine.flops_per_second +
         reordered_elements(kernel, form, sizes) * kReorderedSeconds / machine.threads;
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

}  // namespace luminal::search
