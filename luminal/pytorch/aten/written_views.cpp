#include "luminal/pytorch/aten/written_views.h"

#include <algorithm>
#include <string>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"

namespace luminal::pytorch {
namespace {

// By how a view is undone.
constexpr std::string_view kReshapes[] = {"aten.view.default",      "aten._unsafe_view.default",
                                          "aten.unsqueeze.default", "aten.squeeze.default",
                                          "aten.squeeze.dim",       "aten.squeeze.dims",
                                          "aten.unflatten.int",     "aten.alias.default",
                                          "aten.detach.default",    "aten.lift_fresh.default"};
constexpr std::string_view kPermutes[] = {"aten.permute.default", "aten.transpose.int",
                                          "aten.t.default", "aten.numpy_T.default"};
constexpr std::string_view kSlice = "aten.slice.Tensor", kSelect = "aten.select.int";
constexpr std::string_view kOthers[] = {"aten.expand.default",
                                        "aten.expand_as.default",
                                        "aten.narrow.default",
                                        "aten.split.Tensor",
                                        "aten.split_with_sizes.default",
                                        "aten.split.sizes",
                                        "aten.chunk.default",
                                        "aten.unbind.int",
                                        "aten.unfold.default",
                                        "aten.diagonal.default",
                                        "aten.mT.default",
                                        "aten.as_strided.default",
                                        "aten.view.dtype"};

constexpr std::string_view kMaybe[] = {"aten.reshape.default",    "aten.flatten.using_ints",
                                       "aten.contiguous.default", "aten.to.dtype",
                                       "aten.to.dtype_layout",    "aten.to.device",
                                       "aten.type_as.default",    "aten.dropout.default"};

template <typename List>
bool is_among(const List& list, std::string_view target) {
  return std::ranges::find(list, target) != std::end(list);
}

// The order of axes that a permuting step gives, undone.
Tensor unpermuted(const ViewStep& step, const Tensor& before, const Tensor& value) {
  const std::string_view target = step.entry->target;
  const int rank = before.rank();
  std::vector<int> order(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) order[static_cast<size_t>(i)] = i;
  const Arguments arguments(before.graph(), step.arguments);
  const auto axis = [&](size_t i) {
    const int given = arguments.integer(i);
    return static_cast<size_t>(given < 0 ? given + rank : given);
  };
  if (target == "aten.transpose.int") {
    if (rank > 0) std::swap(order[axis(1)], order[axis(2)]);
  } else if (target == "aten.t.default" || target == "aten.numpy_T.default") {
    std::reverse(order.begin(), order.end());
  } else {
    const std::vector<int> given = arguments.integers(1);
    for (size_t i = 0; i < given.size(); ++i) {
      order[static_cast<size_t>(given[i] < 0 ? given[i] + rank : given[i])] = static_cast<int>(i);
    }
  }
  return value.permute(order);
}

// By the operator that writes to a part: slice_scatter and select_scatter.
Tensor scattered(const ViewStep& step, const Tensor& before, const Tensor& value,
                 std::string_view by) {
  bool in_place = false;
  const OpEntry* entry = find_op(by, in_place);
  LUMINAL_CHECK(entry != nullptr, "the table has the operator");
  Values arguments{before, value};
  arguments.insert(arguments.end(), step.arguments.begin() + 1, step.arguments.end());
  return std::get<Tensor>(entry->build(Arguments(before.graph(), arguments))[0].value);
}

Tensor undone(const ViewStep& step, const Tensor& before, const Tensor& value) {
  const std::string_view target = step.entry->target;
  if (is_among(kReshapes, target)) return value.reshape(before.dims());
  if (is_among(kPermutes, target)) return unpermuted(step, before, value);
  if (target == kSlice) return scattered(step, before, value, "aten.slice_scatter.default");
  if (target == kSelect) return scattered(step, before, value, "aten.select_scatter.default");
  throw UserError("it writes through a view by " + std::string(target) +
                  ", which isn't supported yet; write to the tensor itself");
}

}  // namespace

bool is_view(std::string_view target) {
  return is_among(kReshapes, target) || is_among(kPermutes, target) || target == kSlice ||
         target == kSelect || is_among(kOthers, target);
}

bool may_be_view(std::string_view target) { return is_among(kMaybe, target); }

std::vector<Tensor> along(const Tensor& base, const std::vector<ViewStep>& path) {
  std::vector<Tensor> all{base};
  for (const ViewStep& step : path) {
    Values arguments = step.arguments;
    arguments[0] = all.back();
    const Values results = step.entry->build(Arguments(base.graph(), arguments));
    all.push_back(std::get<Tensor>(results[step.result].value));
  }
  return all;
}

Tensor written_through(const Tensor& base, const std::vector<ViewStep>& path, const Tensor& value) {
  const std::vector<Tensor> before = along(base, path);
  Tensor written = value;
  for (size_t i = path.size(); i-- > 0;) written = undone(path[i], before[i], written);
  return written;
}

}  // namespace luminal::pytorch
