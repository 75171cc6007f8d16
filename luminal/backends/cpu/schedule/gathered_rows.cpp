#include "luminal/backends/cpu/schedule/gathered_rows.h"

#include <algorithm>
#include <cstdint>

namespace luminal::backends::cpu {
namespace {

using kernel::Inst;
using kernel::InstId;

bool keeps_integers(DType from, DType to) {
  return !is_float(from) && !is_float(to) && (from == to || bits(to) > bits(from));
}

}  // namespace

bool is_known_row(const kernel::Stage& stage, InstId value, Expr extent) {
  const Inst& inst = stage.body[value.index()];
  if (const auto* constant = std::get_if<kernel::ConstInst>(&inst.what)) {
    return constant->integer >= 0 && known_less(Expr(constant->integer), extent);
  }
  if (const auto* iota = std::get_if<kernel::IotaInst>(&inst.what)) {
    const bool fits = inst.dtype == DType::I64 ||
                      (inst.dtype == DType::I32 && iota->expr.upper_bound() <= INT32_MAX);
    return fits && known_less_equal(Expr(0), iota->expr) && known_less(iota->expr, extent);
  }
  const auto* op = std::get_if<kernel::OpInst>(&inst.what);
  if (op == nullptr) return false;
  const auto is_row = [&](size_t k) { return is_known_row(stage, op->operands[k], extent); };
  if (op->op == Op::Select) return is_row(1) && is_row(2);
  return op->op == Op::Cast &&
         keeps_integers(stage.body[op->operands[0].index()].dtype, inst.dtype) && is_row(0);
}

bool looks_at_rows(const kernel::Kernel& kernel) {
  return std::ranges::any_of(kernel.stages, [&](const kernel::Stage& stage) {
    const auto looks_at = [&](InstId row, Expr extent) {
      return !is_known_row(stage, row, extent);
    };
    if (const auto* update = std::get_if<kernel::UpdateTarget>(&stage.target)) {
      if (looks_at(update->row, kernel.params[update->param].dims[0])) return true;
    }
    return std::ranges::any_of(stage.body, [&](const Inst& inst) {
      const auto* load = std::get_if<kernel::LoadInst>(&inst.what);
      if (load == nullptr) return false;
      const Dims& dims = kernel.params[load->param].dims;
      for (size_t axis = 0; axis < dims.size(); ++axis) {
        const auto& row = load->index[axis].value;
        if (row && looks_at(*row, dims[axis])) return true;
      }
      return false;
    });
  });
}

}  // namespace luminal::backends::cpu
