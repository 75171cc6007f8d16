#include "luminal/backends/cpu/onednn/library_step.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/errors.h"

namespace luminal::backends::cpu {
namespace {

LibraryLaunch::Operand operand(const LibraryTensor& tensor, const Bindings& bindings) {
  return {.param = tensor.param,
          .start = static_cast<size_t>(byte_size(tensor.dtype, value_at(tensor.start, bindings)))};
}

}  // namespace

Result<std::shared_ptr<const LibraryStep>> LibraryStep::make(LibraryForm form, bool b_is_fixed,
                                                             const LoadOptions& options) {
  using Made = Result<std::shared_ptr<const LibraryStep>>;
  const LibraryMatmulShape shape = shape_at(form, options.typical_sizes, b_is_fixed);
  Result<std::unique_ptr<LibraryMatmul>> matmul = make_library_matmul(shape, options.threads);
  if (!matmul) return Made::failure(matmul.why());
  std::shared_ptr<LibraryStep> step(new LibraryStep(std::move(form), options.threads));
  step->packs_ = b_is_fixed && !(*matmul)->wants_b_as_it_is();
  step->typical_ = std::move(*matmul);
  return Made(std::move(step));
}

std::string LibraryStep::layout() const {
  std::string strides;
  for (Expr stride : form_.b.batch) strides += stride.text() + ", ";
  return fmt::format("{} from {} on of strides [{}{}, {}] as {}", name(form_.b.dtype),
                     form_.b.start.text(), strides, form_.b.row.text(), form_.b.column.text(),
                     typical_->layout());
}

void LibraryStep::pack(const void* b, void* packed) const {
  typical_->pack(static_cast<const std::byte*>(b) + operand(form_.b, {}).start, packed);
}

LibraryLaunch LibraryStep::prepare(const Bindings& bindings) const {
  LibraryMatmulShape shape = shape_at(form_, bindings, packs_);
  LibraryLaunch launch;
  launch.a = operand(form_.a, bindings);
  launch.b = operand(form_.b, bindings);
  launch.c = operand(form_.c, bindings);
  if (form_.bias) launch.bias = operand(*form_.bias, bindings);
  for (const LibraryPostOp& op : form_.post_ops) {
    if (op.tensor) launch.post_ops.push_back(operand(*op.tensor, bindings));
  }
  launch.in_post_op.resize(launch.post_ops.size());
  if (shape.m == 0 || std::ranges::count(shape.batch, 0) > 0) return launch;
  shape.accept_plain_loops = true;
  Result<std::unique_ptr<LibraryMatmul>> matmul =
      make_library_matmul(shape, threads_, packs_ ? typical_.get() : nullptr);
  if (!matmul) {
    throw DeviceError(fmt::format("a product of {} × {} × {} that oneDNN was chosen for failed: {}",
                                  shape.m, shape.n, shape.k, matmul.why()));
  }
  launch.matmul = std::move(*matmul);
  return launch;
}

void LibraryStep::run(LibraryLaunch& launch, std::span<const void* const> params,
                      const void* packed, void* scratch) const {
  if (launch.matmul == nullptr) return;
  const auto address = [&](const LibraryLaunch::Operand& of) -> const void* {
    return static_cast<const std::byte*>(params[of.param.index()]) + of.start;
  };
  for (size_t i = 0; i < launch.post_ops.size(); ++i) {
    launch.in_post_op[i] = address(launch.post_ops[i]);
  }
  launch.matmul->run({.a = address(launch.a),
                      .b = packs_ ? packed : address(launch.b),
                      .c = const_cast<void*>(address(launch.c)),
                      .bias = launch.bias ? address(*launch.bias) : nullptr,
                      .post_ops = launch.in_post_op,
                      .scratch = scratch});
}

}  // namespace luminal::backends::cpu
