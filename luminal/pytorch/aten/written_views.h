// Writing through views: a tensor that shares memory with another changes it too.
#pragma once

#include <string_view>
#include <vector>

#include "luminal/pytorch/aten/op_table.h"

namespace luminal::pytorch {

// Whether an operator's results share the memory of its first argument.
bool is_view(std::string_view target);
// Whether they may: it depends on strides or dtypes, which a graph doesn't have.
bool may_be_view(std::string_view target);

// One operator on the way from a tensor to a view of it.
struct ViewStep {
  const OpEntry* entry;
  Values arguments;
  size_t result = 0;
};

// The tensor, and each view of the way.
std::vector<Tensor> along(const Tensor& base, const std::vector<ViewStep>& path);

// `base` after `value` was written to the view at the end of the way. UserError where a view on it
// can't be written through.
Tensor written_through(const Tensor& base, const std::vector<ViewStep>& path, const Tensor& value);

}  // namespace luminal::pytorch
