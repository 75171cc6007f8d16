#include "luminal/backends/cpu/micro/micro_kernel.h"

#include "luminal/backends/cpu/micro/micro_kernel_parts.h"

namespace luminal::backends::cpu {

llvm::Value* MicroKernel::first_elements(llvm::Value* from, llvm::Value* count, int n) const {
  auto* type = llvm::FixedVectorType::get(element(), static_cast<unsigned>(n));
  std::vector<llvm::Constant*> steps;
  for (int k = 0; k < n; ++k)
    steps.push_back(llvm::ConstantInt::get(element(), static_cast<uint64_t>(k)));
  llvm::Value* end =
      builder.CreateVectorSplat(static_cast<unsigned>(n), builder.CreateTrunc(count, element()));
  llvm::Value* mask = builder.CreateICmpULT(llvm::ConstantVector::get(steps), end);
  return builder.CreateMaskedLoad(type, from,
                                  llvm::Align(static_cast<uint64_t>(element_bytes(multiply))), mask,
                                  llvm::Constant::getNullValue(type));
}

void emit_micro_kernel_setup(Builder& builder, const Target&, Multiply multiply, MicroShape shape) {
  if (on_tiles(multiply)) emit_tiles_setup(builder, shape);
}

void emit_micro_kernel_release(Builder& builder, Multiply multiply) {
  if (on_tiles(multiply)) emit_tiles_release(builder);
}

void emit_micro_kernel(Builder& builder, const Target& target, Multiply multiply, MicroShape shape,
                       const RowOperand& left, const PanelOperand& right, llvm::Value* rows,
                       llvm::Value* panels, llvm::Value* k_count, llvm::Value* tile,
                       llvm::Value* adds, llvm::Value* row_bytes) {
  builder.GetInsertBlock()->getParent()->addFnAttr(kHasMicroKernels);
  if (row_bytes == nullptr) {
    const int64_t bytes = int64_t{shape.panels} * target.vector_bytes;
    row_bytes = builder.getInt64(static_cast<uint64_t>(bytes));
  }
  const MicroKernel kernel{.builder = builder,
                           .target = target,
                           .multiply = multiply,
                           .shape = shape,
                           .left = left,
                           .right = right,
                           .rows = rows,
                           .panels = panels,
                           .k_count = k_count,
                           .tile = tile,
                           .adds = adds == nullptr ? builder.getFalse() : adds,
                           .tile_row_bytes = row_bytes};
  if (on_tiles(multiply)) return emit_tiles_micro_kernel(kernel);
  emit_vector_micro_kernel(kernel);
}

}  // namespace luminal::backends::cpu
