// The canonical text of a kernel.
#include <fmt/format.h>

#include "luminal/graph/text/text_lines.h"
#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {
namespace {

std::string list(const std::vector<Expr>& exprs) {
  std::string out;
  for (Expr e : exprs) out += (out.empty() ? "" : ", ") + e.text();
  return "[" + out + "]";
}

std::string index_text(const std::vector<Index>& index) {
  std::string out;
  for (const Index& i : index) {
    out += out.empty() ? "" : ", ";
    out += i.value ? fmt::format("%{}", i.value->value) : i.expr.text();
  }
  return "[" + out + "]";
}

std::string inst_text(const Inst& inst) {
  if (const auto* constant = std::get_if<ConstInst>(&inst.what)) {
    return is_float(inst.dtype) ? fmt::format("constant {}", constant->real)
                                : fmt::format("constant {}", constant->integer);
  }
  if (const auto* iota = std::get_if<IotaInst>(&inst.what)) return "iota " + iota->expr.text();
  if (const auto* load = std::get_if<LoadInst>(&inst.what)) {
    return fmt::format("load p{}{}", load->param.value, index_text(load->index));
  }
  if (const auto* local = std::get_if<LocalInst>(&inst.what)) {
    return fmt::format("local s{}{}", local->stage.value, list(local->index));
  }
  const auto& op = std::get<OpInst>(inst.what);
  std::string out(name(op.op));
  for (InstId operand : op.operands) out += fmt::format(" %{}", operand.value);
  return out;
}

}  // namespace

std::string text(const Stage& stage) {
  std::string out = fmt::format(" {}", name(stage.dtype));
  for (LoopId loop : stage.loops) out += fmt::format(" for i{}", loop.value);
  if (stage.reduction) {
    out += fmt::format(" {}{} over i{}", stage.reduction->running ? "scan " : "",
                       name(stage.reduction->reducer), stage.reduction->loop.value);
  }
  out += "\n";
  for (size_t i = 0; i < stage.body.size(); ++i) {
    out += fmt::format("  %{} = {} : {}\n", i, inst_text(stage.body[i]), name(stage.body[i].dtype));
  }
  if (const auto* output = std::get_if<OutputTarget>(&stage.target)) {
    out += fmt::format("  store p{}{} %{}\n", output->param.value, list(output->index),
                       stage.result.value);
  } else if (const auto* update = std::get_if<UpdateTarget>(&stage.target)) {
    out += fmt::format("  {} p{} row %{}{} %{}\n",
                       update->combine ? name(*update->combine) : "replace", update->param.value,
                       update->row.value, list(update->rest), stage.result.value);
  } else {
    out += fmt::format("  keep %{}\n", stage.result.value);
  }
  return out;
}

std::string text(const Kernel& kernel) {
  std::string out = "kernel\n";
  for (Expr variable : kernel.variables) {
    out += variable_line(variable);
  }
  for (ParamId p : kernel.params.ids()) {
    const Param& param = kernel.params[p];
    out += fmt::format("param p{} {} {}{}", p.value, param.output ? "out" : "in", name(param.dtype),
                       text(param.dims));
    out += param.shares.valid() ? fmt::format(" shares p{}\n", param.shares.value) : "\n";
  }
  for (LoopId loop : kernel.loops.ids()) {
    out += fmt::format("loop i{} {}{}\n", loop.value, extent_of(kernel, loop).text(),
                       is_outer(kernel, loop) ? " outer" : "");
  }
  for (StageId stage : kernel.stages.ids()) {
    out += fmt::format("stage s{}", stage.value) + text(kernel.stages[stage]);
  }
  return out;
}

}  // namespace luminal::kernel
