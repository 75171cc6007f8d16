#include "luminal/backends/cpu/library_step.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/errors.h"

namespace luminal::backends::cpu {

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
  return fmt::format("{} of strides [{}{}, {}] as {}", name(form_.b.dtype), strides,
                     form_.b.row.text(), form_.b.column.text(), typical_->layout());
}

LibraryLaunch LibraryStep::prepare(const Bindings& bindings) const {
  LibraryMatmulShape shape = shape_at(form_, bindings, packs_);
  LibraryLaunch launch;
  launch.post_ops.resize(static_cast<size_t>(
      std::ranges::count_if(form_.post_ops, [](const auto& op) { return op.tensor.has_value(); })));
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
  const auto address = [&](const LibraryTensor& tensor) {
    return params[static_cast<size_t>(tensor.param)];
  };
  size_t next = 0;
  for (const LibraryPostOp& op : form_.post_ops) {
    if (op.tensor) launch.post_ops[next++] = address(*op.tensor);
  }
  launch.matmul->run({.a = address(form_.a),
                      .b = packs_ ? packed : address(form_.b),
                      .c = const_cast<void*>(address(form_.c)),
                      .bias = form_.bias ? address(*form_.bias) : nullptr,
                      .post_ops = launch.post_ops,
                      .scratch = scratch});
}

}  // namespace luminal::backends::cpu
