#include "luminal/backends/cpu/program/kept_code.h"

#include "luminal/backends/cpu/plan/split_attention.h"
#include "luminal/base/check.h"
#include "luminal/base/digest.h"
#include "luminal/base/errors.h"
#include "luminal/shape/expr/expr_bytes.h"

namespace luminal::backends::cpu {
namespace {

// Identifies the instruction set that code was compiled for.
std::string instructions_of(const Target& target) {
  return target.triple + " " + target.cpu + " " + target.features;
}

std::string name_of(const kernel::Kernel& kernel) { return base::digest(kernel::text(kernel)); }

void write_kernel(shape::ExprWriter& writer, const CompiledKernel& kernel) {
  LUMINAL_CHECK(!kernel.object().empty(), "the code of a kernel wasn't saved");
  const auto& [points, scratch_bytes, grain, tiled, copies_rows, aligned_outputs, looks_at_rows] =
      kernel.form();
  writer.out.text(name_of(kernel.kernel()));
  writer.expr(points);
  writer.expr(scratch_bytes);
  writer.out.integer(grain);
  for (bool flag : {tiled, copies_rows, aligned_outputs, looks_at_rows}) writer.out.flag(flag);
  writer.out.text(kernel.object());
}

std::shared_ptr<const CompiledKernel> read_kernel(shape::ExprReader& reader,
                                                  const kernel::Kernel& kernel, Jit& jit) {
  if (reader.in.text() != name_of(kernel)) {
    throw UserError(
        "saved code has other kernels than this build makes of the same plan; compile it again");
  }
  LaunchForm form;
  form.points = reader.expr();
  form.scratch_bytes = reader.expr();
  form.grain = reader.in.integer();
  if (form.grain < 1) throw base::ByteError("a range has no points");
  for (bool* flag : {&form.tiled, &form.copies_rows, &form.aligned_outputs, &form.looks_at_rows}) {
    *flag = reader.in.flag();
  }
  return jit.load(kernel, form, reader.in.text());
}

}  // namespace

std::string write_code(const CpuProgram::Kernels& kernels, const Target& target) {
  shape::ExprWriter writer;
  writer.out.text(instructions_of(target));
  writer.out.number(kernels.size());
  for (const CpuProgram::StepCode& code : kernels) {
    LUMINAL_CHECK(code.kernel != nullptr, "code of a library can't be saved");
    writer.out.flag(code.split != nullptr);
    write_kernel(writer, *code.kernel);
    if (code.split != nullptr) write_kernel(writer, *code.second);
  }
  return writer.bytes();
}

CpuProgram::Kernels read_code(std::string_view bytes, const kernel::Plan& plan, Jit& jit) {
  shape::ExprReader reader(bytes);
  const std::string_view wanted = reader.in.text();
  if (wanted != instructions_of(jit.target())) {
    throw UserError("saved code is for another processor (" + std::string(wanted.substr(0, 80)) +
                    "…, this one is " + instructions_of(jit.target()).substr(0, 80) +
                    "…); compile it again on this machine");
  }
  if (reader.in.number() != static_cast<uint64_t>(plan.n_kernels())) {
    throw base::ByteError("the code is for another number of kernels");
  }
  CpuProgram::Kernels kernels;
  for (const auto& step : plan.steps) {
    const auto* planned = std::get_if<kernel::KernelStep>(&step);
    if (planned == nullptr) continue;
    const kernel::Kernel& source = planned->lowered.kernel;
    const bool is_split = planned->strategy == kernel::Strategy::SplitAttention;
    if (reader.in.flag() != is_split) {
      throw UserError(
          "saved code runs a kernel by another strategy than its plan; compile it again");
    }
    if (!is_split) {
      kernels.push_back({.kernel = read_kernel(reader, source, jit)});
      continue;
    }
    const auto split = split_of(*planned);
    CpuProgram::StepCode code;
    code.kernel = read_kernel(reader, split->ranges, jit);
    code.second = read_kernel(reader, split->together, jit);
    code.split = split;
    kernels.push_back(std::move(code));
  }
  reader.in.finish();
  return kernels;
}

}  // namespace luminal::backends::cpu
