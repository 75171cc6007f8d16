#include "luminal/pytorch/importer/origins.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/pytorch/aten/op_table.h"
#include "luminal/pytorch/importer/needed_calls.h"
#include "luminal/pytorch/pt2.h"

namespace luminal::pytorch {
namespace {

constexpr size_t kMostNamed = 40;  // operators of one message

// "aten.silu.default" is silu.
std::string_view short_name(std::string_view target) {
  const size_t last = target.rfind('.');
  const size_t before =
      last == 0 || last == target.npos ? target.npos : target.rfind('.', last - 1);
  if (before == target.npos) return target.substr(last == target.npos ? 0 : last + 1);
  return target.substr(before + 1, last - before - 1);
}

// "/home/u/model.py:12: y = x + 1" is model.py:12.
std::string_view short_line(std::string_view source) {
  const size_t text = source.find(": ");
  source = source.substr(0, text);
  const size_t slash = source.rfind('/');
  return slash == source.npos ? source : source.substr(slash + 1);
}

std::string calls_text(const UnknownOperator& of) {
  const std::string more = of.calls.size() == 1 ? "" : fmt::format(", {} calls", of.calls.size());
  return fmt::format("{}{}{}", of.target, place_of(*of.calls.front()), more);
}

}  // namespace

std::string place_of(const Call& call) {
  return (call.module.empty() ? "" : " in " + call.module) +
         (call.source.empty() ? "" : " (" + call.source + ")");
}

std::vector<UnknownOperator> unknown_operators(const ExportedProgram& program) {
  std::vector<UnknownOperator> unknown;
  std::unordered_map<std::string_view, size_t> places;
  for (const Call* call : needed_calls(program)) {
    bool in_place = false;
    if (find_op(call->target, in_place) != nullptr) continue;
    const auto [place, is_new] = places.emplace(call->target, unknown.size());
    if (is_new) unknown.push_back({.target = call->target, .calls = {}});
    unknown[place->second].calls.push_back(call);
  }
  return unknown;
}

void check_operators(const ExportedProgram& program) {
  const std::vector<UnknownOperator> unknown = unknown_operators(program);
  if (unknown.empty()) return;
  if (unknown.size() == 1) {
    throw UserError(fmt::format("{}: {}: this operator isn't supported yet", program.source,
                                calls_text(unknown.front())));
  }
  std::string message =
      fmt::format("{}: {} operators aren't supported yet:", program.source, unknown.size());
  for (size_t i = 0; i < std::min(unknown.size(), kMostNamed); ++i) {
    message += "\n  " + calls_text(unknown[i]);
  }
  if (unknown.size() > kMostNamed)
    message += fmt::format("\n  … {} more", unknown.size() - kMostNamed);
  throw UserError(message);
}

void label_results(const Call& call, const Values& results, size_t first_new) {
  std::string label(short_name(call.target));
  if (!call.module.empty()) label += " " + call.module;
  if (!call.source.empty()) label += fmt::format(" {}", short_line(call.source));
  for (const Value& result : results) {
    const auto* tensor = std::get_if<Tensor>(&result.value);
    if (tensor == nullptr || tensor->id().index() < first_new) continue;
    if (tensor->node().op != Op::Input && tensor->node().label.empty()) tensor->name(label);
  }
}

}  // namespace luminal::pytorch
