#include "luminal/pytorch/importer/needed_calls.h"

#include <algorithm>
#include <ranges>
#include <string_view>
#include <unordered_set>

namespace luminal::pytorch {
namespace {

using Names = std::unordered_set<std::string_view>;

void add_refs(const Argument& argument, Names& names) {
  if (const auto* ref = std::get_if<Ref>(&argument.value)) names.insert(ref->name);
  if (const auto* list = std::get_if<Argument::List>(&argument.value)) {
    for (const Argument& each : *list) add_refs(each, names);
  }
}

// "aten.add_.Tensor" writes to its first argument; what gives nothing checks something.
bool only_gives(const Call& call) {
  const std::string_view target = call.target;
  if (call.results.empty()) return false;
  if (target.starts_with("_operator.")) return true;
  const size_t dot = target.rfind('.');
  return target.starts_with("aten.") && target[dot - 1] != '_';
}

}  // namespace

std::vector<const Call*> needed_calls(const ExportedProgram& program) {
  Names names;
  for (const ProgramOutput& output : program.outputs) add_refs(output.value, names);
  std::vector<const Call*> needed;
  for (const Call& call : std::views::reverse(program.calls)) {
    const bool is_read = std::ranges::any_of(
        call.results, [&](const std::string& result) { return names.contains(result); });
    if (!is_read && only_gives(call)) continue;
    needed.push_back(&call);
    for (const NamedArgument& each : call.arguments) add_refs(each.argument, names);
  }
  std::ranges::reverse(needed);
  return needed;
}

}  // namespace luminal::pytorch
