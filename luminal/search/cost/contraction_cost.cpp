#include "luminal/search/cost/contraction_cost.h"

#include <algorithm>
#include <map>
#include <set>

#include "luminal/kernel/ir/joined_loops.h"
#include "luminal/kernel/recognise/forms.h"
#include "luminal/kernel/recognise/guarded_loads.h"
#include "luminal/kernel/recognise/quantised_form.h"

namespace luminal::search {
namespace {

// Per element of a weight that is repacked in every run.
constexpr double kReorderedSeconds = 10e-9;
// Per element of a right factor that is picked from several images, and per image.
constexpr double kPickedSeconds = 5e-9;
// Per element of a weight that is widened to f32 in every run.
constexpr double kWidenedSeconds = 1e-9;
// Per element of a row that is computed in a GEMM's prologue.
constexpr double kComputedSeconds = 0.8e-9;
// Windows of convolutions that are told from products.
constexpr int64_t kWidestWindow = 11;

// An address in elements, without gathered indices.
template <typename Indices>
Expr address_of(const kernel::Kernel& kernel, kernel::ParamId param, const Indices& index) {
  const std::vector<Expr> strides = contiguous_strides(kernel.params[param].dims);
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

// All expressions over loops in a kernel, with addresses in elements.
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

// The columns that vectors run along: the last loop, collapsed with the loops around it as long as
// nothing in the kernel needs their indices separately, as the two halves of a rotary embedding do.
Expr joined_columns(const kernel::Kernel& kernel, const kernel::ContractionForm& form) {
  std::vector<Expr> exprs = exprs_of(kernel);
  IdVector<kernel::LoopId, Expr> extents;
  for (const kernel::Loop& loop : kernel.loops) extents.push_back(loop.extent);
  const kernel::LoopId last = form.columns.back();
  for (size_t n = form.columns.size() - 1; n-- > 0;) {
    const kernel::LoopId outer = form.columns[n];
    const kernel::JoinedLoops joined(extents, outer, last);
    for (Expr& e : exprs) {
      const std::optional<Expr> over = joined.over(e);
      if (!over) return extents[last];
      e = *over;
    }
    extents[outer] = 1;
    extents[last] = joined.extent();
  }
  return extents[last];
}

// Number of points of some loops.
double points_of(const kernel::Kernel& kernel, const std::vector<kernel::LoopId>& loops,
                 const Bindings& sizes) {
  double points = 1;
  for (kernel::LoopId loop : loops) points *= value(extent_of(kernel, loop), sizes);
  return points;
}

double n_weights(const kernel::Kernel& kernel, const kernel::ContractionForm& form,
                 const kernel::Contraction& contraction, const Bindings& sizes) {
  return points_of(kernel, {contraction.k}, sizes) * points_of(kernel, form.columns, sizes);
}

// Whether columns of a right factor that lie beside each other are read around the end of a line,
// as a padded copy of an image is that drops its padding later: one by one.
bool wraps(const kernel::Kernel& kernel, const kernel::ContractionForm& form) {
  for (const kernel::Contraction& contraction : form.contractions) {
    const kernel::Stage right =
        kernel::factor_stage(kernel.stages[contraction.stage], contraction.right);
    const auto guarded = kernel::guarded_loads(right);
    for (size_t k = 0; k < right.body.size(); ++k) {
      const auto* load = std::get_if<kernel::LoadInst>(&right.body[k].what);
      if (load == nullptr || guarded[k] || load->index.empty()) continue;
      const Expr last = load->index.back().expr;
      if (last.kind() == ExprKind::Mod && uses_loop(last, form.columns.back())) return true;
    }
  }
  return false;
}

// Elements of right factors that are copied one by one in every run: vectors have too few columns
// to read them from packed panels, or wrap.
double reordered_elements(const kernel::Kernel& kernel, const kernel::ContractionForm& form,
                          const MachineModel& machine, const Bindings& sizes) {
  constexpr double kVector = 16;
  if (points_of(kernel, form.columns, sizes) < kVector) return 0;
  // Windows aren't packed, except for products of bf16 where those have instructions.
  const bool has_exact =
      machine.exact_product_flops_per_second > machine.product_flops_per_second &&
      value(kernel::work_of(kernel, form).exact_products, sizes) > 0;
  if (kernel::forms_of(kernel).windows && !has_exact) return 0;
  if (value(joined_columns(kernel, form), sizes) >= kVector && !wraps(kernel, form)) return 0;
  double elements = 0;
  for (const kernel::Contraction& contraction : form.contractions) {
    elements += n_weights(kernel, form, contraction, sizes);
  }
  return elements;
}

// Whether steps along k differ, as those of windows do.
bool is_uneven(Expr address, Expr k) {
  const auto step = [&](int64_t at) {
    return address.substitute(k, at + 1) - address.substitute(k, at);
  };
  for (int64_t at = 1; at <= kWidestWindow; ++at) {
    if (step(at) != step(0)) return true;
  }
  return false;
}

// Elements of right factors whose windows lie in several images, as those of a concatenation do:
// such windows are packed in every run, and each element is read from every image. By element and
// image.
double picked_elements(const kernel::Kernel& kernel, const kernel::ContractionForm& form,
                       const Bindings& sizes) {
  double elements = 0;
  for (const kernel::Contraction& contraction : form.contractions) {
    if (kernel::has_small_integers(kernel, contraction)) continue;
    const kernel::Stage right =
        kernel::factor_stage(kernel.stages[contraction.stage], contraction.right);
    const auto is_load = [](const kernel::Inst& inst) {
      return std::holds_alternative<kernel::LoadInst>(inst.what);
    };
    if (std::ranges::count_if(right.body, is_load) < 2) continue;
    const Expr k = index_of(kernel, contraction.k);
    const auto images = std::ranges::count_if(right.body, [&](const kernel::Inst& inst) {
      const auto* load = std::get_if<kernel::LoadInst>(&inst.what);
      return load != nullptr && is_uneven(address_of(kernel, load->param, load->index), k);
    });
    if (images < 2) continue;
    elements += static_cast<double>(images) * n_weights(kernel, form, contraction, sizes);
  }
  return elements;
}

// Elements of 16-bit right factors that are widened to f32 in every run, which only products of
// bf16 by bf16 do without. Quantised factors were never stored in 16 bits.
double widened_elements(const kernel::Kernel& kernel, const kernel::ContractionForm& form,
                        const Bindings& sizes) {
  double elements = 0;
  for (const kernel::Contraction& contraction : form.contractions) {
    const kernel::Stage& stage = kernel.stages[contraction.stage];
    const bool right_is_half = kernel::is_widened(stage, contraction.right, DType::BF16) ||
                               kernel::is_widened(stage, contraction.right, DType::F16);
    const bool exact = kernel::is_widened(stage, contraction.left, DType::BF16) &&
                       kernel::is_widened(stage, contraction.right, DType::BF16);
    const bool stored = !kernel::has_small_integers(kernel, contraction);
    if (right_is_half && !exact && stored) elements += n_weights(kernel, form, contraction, sizes);
  }
  return elements;
}

// Elements of left factors that are computed or rounded, not just loaded: every thread computes all
// that its columns need.
double computed_rows(const kernel::Kernel& kernel, const kernel::ContractionForm& form,
                     const Bindings& sizes) {
  double elements = 0;
  for (const kernel::Contraction& contraction : form.contractions) {
    const kernel::Stage left =
        kernel::factor_stage(kernel.stages[contraction.stage], contraction.left);
    const bool loaded =
        left.body.size() == 1 ||
        (left.body.size() == 2 && kernel::is_widened(left, left.result, DType::BF16));
    if (loaded) continue;
    // GEMMs with the same rows compute them once.
    elements = std::max(
        elements, points_of(kernel, {contraction.k}, sizes) * points_of(kernel, form.rows, sizes));
  }
  return elements;
}

}  // namespace

ContractionSeconds contraction_seconds(const kernel::Kernel& kernel,
                                       const kernel::ContractionForm& form,
                                       const MachineModel& machine, const Bindings& sizes) {
  const kernel::ContractionWork work = kernel::work_of(kernel, form);
  // Small integers are exact in bf16: with many rows, their products are computed in bf16.
  const bool many = points_of(kernel, form.rows, sizes) > kernel::kMostStreamedRows;
  const double of_integers =
      many ? machine.half_product_flops_per_second() : machine.product_flops_per_second;
  const double results = points_of(kernel, form.batch, sizes) *
                         points_of(kernel, form.rows, sizes) *
                         points_of(kernel, form.columns, sizes);
  return {
      .products = 2 * value(work.products, sizes) / machine.product_flops_per_second +
                  2 * value(work.integer_products, sizes) / of_integers +
                  2 * value(work.exact_products, sizes) / machine.exact_product_flops_per_second,
      .arithmetic = value(work.other_flops, sizes) / machine.flops_per_second,
      .reordered = (reordered_elements(kernel, form, machine, sizes) * kReorderedSeconds +
                    picked_elements(kernel, form, sizes) * kPickedSeconds) /
                   machine.threads,
      .widened = widened_elements(kernel, form, sizes) * kWidenedSeconds / machine.threads,
      .computed = computed_rows(kernel, form, sizes) * kComputedSeconds,
      .sums = results * static_cast<double>(form.contractions.size()) / machine.flops_per_second};
}

double repeated_bytes(const kernel::Kernel& kernel, const kernel::ContractionForm& form,
                      const Bindings& sizes) {
  double bytes = 0;
  std::map<kernel::ParamId, std::set<uint32_t>>
      orders;  // by parameter: the addresses it is read at
  for (const kernel::Contraction& contraction : form.contractions) {
    const kernel::Stage right =
        kernel::factor_stage(kernel.stages[contraction.stage], contraction.right);
    for (const kernel::Inst& inst : right.body) {
      const auto* load = std::get_if<kernel::LoadInst>(&inst.what);
      if (load == nullptr) continue;
      Expr address = address_of(kernel, load->param, load->index);
      address = address.substitute(index_of(kernel, contraction.k), 0);
      std::set<uint32_t>& known = orders[load->param];
      if (known.insert(address.id()).second && known.size() > 1) {
        const kernel::Param& param = kernel.params[load->param];
        bytes += value(n_elements(param.dims), sizes) * bits(param.dtype) / 8;
      }
    }
  }
  return bytes;
}

double windowed_elements(const kernel::Kernel& kernel, const kernel::ContractionForm& form,
                         const Bindings& sizes) {
  double elements = 0;
  const auto& windows = kernel::forms_of(kernel).windows;
  for (size_t c = 0; c < form.contractions.size(); ++c) {
    const kernel::Contraction& contraction = form.contractions[c];
    // Quantised factors have scales that are the same along a group.
    if (kernel::has_small_integers(kernel, contraction)) continue;
    const Expr k = index_of(kernel, contraction.k);
    for (const kernel::Inst& inst : kernel.stages[contraction.stage].body) {
      const auto* load = std::get_if<kernel::LoadInst>(&inst.what);
      if (load == nullptr) continue;
      const Expr address = address_of(kernel, load->param, load->index);
      if (!is_uneven(address, k)) continue;
      double read = 1;
      for (kernel::LoopId loop : kernel.loops.ids()) {
        if (uses_loop(address, loop)) read *= value(extent_of(kernel, loop), sizes);
      }
      elements += windows ? read / static_cast<double>(windows->forms[c].period) : read;
    }
  }
  return elements;
}

}  // namespace luminal::search
