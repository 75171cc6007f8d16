#include "luminal/pytorch/aten/op_table.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "luminal/base/check.h"

namespace luminal::pytorch {
namespace {

using Table = std::unordered_map<std::string_view, const OpEntry*>;

const Table& table() {
  static const Table all = [] {
    Table found;
    for (const auto& part :
         {pointwise_ops(),  reduction_ops(),      view_ops(),           product_ops(),
          norm_ops(),       indexing_ops(),       creation_ops(),       number_ops(),
          activation_ops(), special_ops(),        loss_ops(),           sorting_ops(),
          scattering_ops(), window_ops(),         resampling_ops(),     sequence_ops(),
          gradient_ops(),   layer_gradient_ops(), linear_algebra_ops(), recurrent_ops()}) {
      for (const OpEntry& entry : part) {
        LUMINAL_CHECK(found.emplace(entry.target, &entry).second, "an operator is there twice");
      }
    }
    return found;
  }();
  return all;
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

Value default_value(std::string_view text) {
  if (text == "None") return {};
  if (text == "True") return true;
  if (text == "False") return false;
  if (text == "[]") return Value::List();
  if (text.starts_with('\'')) return std::string(text.substr(1, text.size() - 2));
  if (text.find_first_of(".e") == std::string_view::npos) {
    int64_t integer = 0;
    std::from_chars(text.data(), text.data() + text.size(), integer);
    return Expr(integer);
  }
  double real = 0;
  std::from_chars(text.data(), text.data() + text.size(), real);
  return real;
}

}  // namespace

const OpEntry* find_op(std::string_view target, bool& in_place) {
  in_place = false;
  if (const auto found = table().find(target); found != table().end()) return found->second;
  // aten.permute_copy.default gives what aten.permute.default gives, in memory of its own.
  constexpr std::string_view kCopy = "_copy.";
  if (const size_t at = target.find(kCopy); at != std::string_view::npos) {
    const std::string viewed =
        std::string(target.substr(0, at)) + std::string(target.substr(at + kCopy.size() - 1));
    const auto found = table().find(viewed);
    return found == table().end() ? nullptr : found->second;
  }
  // aten.special_erf.default is aten.erf.default.
  constexpr std::string_view kSpecial = "aten.special_";
  if (target.starts_with(kSpecial)) {
    const auto found = table().find("aten." + std::string(target.substr(kSpecial.size())));
    return found == table().end() ? nullptr : found->second;
  }
  // aten.add_.Tensor writes what aten.add.Tensor gives.
  const size_t dot = target.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || target[dot - 1] != '_') return nullptr;
  const std::string other =
      std::string(target.substr(0, dot - 1)) + std::string(target.substr(dot));
  const auto found = table().find(other);
  if (found == table().end()) return nullptr;
  in_place = true;
  return found->second;
}

std::vector<Parameter> parameters_of(const OpEntry& entry) {
  std::vector<Parameter> all;
  std::string_view rest = entry.parameters;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    const std::string_view text = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t equals = text.find('=');
    Parameter parameter{.name = text.substr(0, equals), .otherwise = std::nullopt};
    if (equals != std::string_view::npos) {
      parameter.otherwise = default_value(text.substr(equals + 1));
    }
    all.push_back(std::move(parameter));
  }
  return all;
}

}  // namespace luminal::pytorch
