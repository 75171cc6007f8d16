// The table of PyTorch's operators: what each is in tensors of a graph.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/pytorch/aten/arguments.h"

namespace luminal::pytorch {

struct OpEntry {
  std::string_view target;      // "aten.add.Tensor"
  std::string_view parameters;  // in order, with defaults: "self, other, alpha=1"
  // One result, or the items of a list.
  Values (*build)(const Arguments& arguments);
};

// Null if there is none. An operator that writes to its first argument ("aten.add_.Tensor") has the
// entry of the one that doesn't; `in_place` says so.
const OpEntry* find_op(std::string_view target, bool& in_place);

// The parameters of an entry by name, with their defaults; none where an argument must be given.
struct Parameter {
  std::string_view name;
  std::optional<Value> otherwise;
};
std::vector<Parameter> parameters_of(const OpEntry& entry);

// The parts of the table.
std::span<const OpEntry> pointwise_ops();
std::span<const OpEntry> reduction_ops();
std::span<const OpEntry> view_ops();
std::span<const OpEntry> product_ops();
std::span<const OpEntry> norm_ops();
std::span<const OpEntry> indexing_ops();
std::span<const OpEntry> creation_ops();
std::span<const OpEntry> number_ops();
std::span<const OpEntry> activation_ops();
std::span<const OpEntry> special_ops();
std::span<const OpEntry> loss_ops();
std::span<const OpEntry> recurrent_ops();
std::span<const OpEntry> linear_algebra_ops();
std::span<const OpEntry> layer_gradient_ops();
std::span<const OpEntry> gradient_ops();
std::span<const OpEntry> sequence_ops();
std::span<const OpEntry> resampling_ops();
std::span<const OpEntry> window_ops();
std::span<const OpEntry> scattering_ops();
std::span<const OpEntry> sorting_ops();

}  // namespace luminal::pytorch
