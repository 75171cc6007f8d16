#include "luminal/egraph/compile/sort_solver.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace luminal::egraph {
namespace {

// All overloads of a name: argument sorts, and the output if only that distinguishes them.
std::string print_overloads(const Schema& schema, const std::string& name) {
  std::string text;
  for (PrimitiveId id : schema.find_primitives(name)) {
    const Primitive& primitive = schema.primitive(id);
    if (!text.empty()) text += ", ";
    if (primitive.any_sort) {
      text += "(" + name + " a a)";
    } else if (primitive.variadic) {
      text += "(" + name + " " + schema.sort(primitive.inputs[0]).name + " …)";
    } else {
      text += print_call_sorts(schema, name, primitive.inputs);
    }
    const bool tells = primitive.inputs.empty() || primitive.variadic;
    if (tells && !primitive.any_sort) text += " of sort " + schema.sort(primitive.output).name;
  }
  return text;
}

}  // namespace

uint32_t SortSolver::make(SortId sort, std::string name, SourcePosition position) {
  if (name.starts_with(' ')) name.clear();  // not a name from the text
  variables_.push_back({.sort = sort, .name = std::move(name), .position = position});
  return static_cast<uint32_t>(variables_.size() - 1);
}

void SortSolver::require(uint32_t variable, SortId sort, SourcePosition position) {
  Variable& known = variables_[root(variable)];
  if (!known.sort.valid()) known.sort = sort;
  if (known.sort == sort) return;
  const std::string what = known.name.empty() ? "this" : "'" + known.name + "'";
  fail(position, what + " is of sort " + schema_.sort(known.sort).name + " where " +
                     schema_.sort(sort).name + " is expected");
}

void SortSolver::join(uint32_t a, uint32_t b, SourcePosition position) {
  a = root(a);
  b = root(b);
  if (a == b) return;
  if (variables_[b].sort.valid()) require(a, variables_[b].sort, position);
  if (variables_[a].name.empty()) variables_[a].name = variables_[b].name;
  variables_[b].joined = a;
}

uint32_t SortSolver::add_call(std::string name, std::vector<uint32_t> inputs, uint32_t output,
                              SourcePosition position) {
  calls_.push_back({.name = std::move(name),
                    .inputs = std::move(inputs),
                    .output = output,
                    .position = position});
  return static_cast<uint32_t>(calls_.size() - 1);
}

// Propagates sorts from arguments to results in call order, and back in reverse order.
void SortSolver::solve() {
  std::vector<Call*> left;
  for (Call& call : calls_) left.push_back(&call);
  for (bool progress = true; progress && !left.empty();) {
    const size_t before = left.size();
    std::erase_if(left, [this](Call* call) { return resolve(*call); });
    std::reverse(left.begin(), left.end());
    progress = left.size() < before;
  }
  for (const Call& call : calls_) {
    if (call.primitive.valid()) continue;
    fail(call.position,
         "the sorts of " + found_sorts(call) + " aren't known well enough to choose among " +
             print_overloads(schema_, call.name) + "; bind a variable in a fact about a function");
  }
}

SortId SortSolver::known_sort(uint32_t variable) const {
  const Variable& known = variables_[root(variable)];
  if (known.sort.valid()) return known.sort;
  fail(variables_[variable].position, "the sort of this value can't be inferred");
}

bool SortSolver::fits(uint32_t variable, SortId sort) const {
  const SortId known = variables_[root(variable)].sort;
  return !known.valid() || !sort.valid() || known == sort;
}

bool SortSolver::fits(const Call& call, const Primitive& primitive) const {
  if (!fits(call.output, primitive.output)) return false;
  if (primitive.any_sort) return call.inputs.size() == 2;
  if (!primitive.variadic && call.inputs.size() != primitive.inputs.size()) return false;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!fits(call.inputs[i], primitive.inputs[primitive.variadic ? 0 : i])) return false;
  }
  return true;
}

// Resolves a call if the known sorts leave one primitive; its sorts may then resolve other calls.
bool SortSolver::resolve(Call& call) {
  std::optional<PrimitiveId> found;
  for (PrimitiveId id : schema_.find_primitives(call.name)) {
    if (!fits(call, schema_.primitive(id))) continue;
    if (found) return false;
    found = id;
  }
  if (!found) {
    fail_if_output_differs(call);
    fail(call.position, "no primitive takes " + found_sorts(call) +
                            "; known: " + print_overloads(schema_, call.name));
  }
  const Primitive& primitive = schema_.primitive(*found);
  if (primitive.any_sort) {
    join(call.inputs[0], call.inputs[1], call.position);
    if (!primitive.output.valid()) join(call.inputs[0], call.output, call.position);
  } else {
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      require(call.inputs[i], primitive.inputs[primitive.variadic ? 0 : i], call.position);
    }
  }
  if (primitive.output.valid()) require(call.output, primitive.output, call.position);
  if (call.inputs.size() > Schema::kMaxInputs) {
    fail(call.position, "'" + call.name + "' has " + std::to_string(call.inputs.size()) +
                            " arguments; at most " + std::to_string(Schema::kMaxInputs) +
                            " fit: put several calls together");
  }
  call.primitive = *found;
  return true;
}

// If the arguments fit a primitive, the error is in its result.
void SortSolver::fail_if_output_differs(const Call& call) const {
  for (PrimitiveId id : schema_.find_primitives(call.name)) {
    Primitive primitive = schema_.primitive(id);
    const SortId output = std::exchange(primitive.output, SortId{});
    if (!output.valid() || call.inputs.empty() || !fits(call, primitive)) continue;
    fail(call.position, "this is of sort " + schema_.sort(output).name + " where " +
                            schema_.sort(sort(call.output)).name + " is expected");
  }
}

std::string SortSolver::found_sorts(const Call& call) const {
  std::vector<SortId> sorts;
  for (uint32_t input : call.inputs) sorts.push_back(variables_[root(input)].sort);
  const SortId output = variables_[root(call.output)].sort;
  const std::string text = print_call_sorts(schema_, call.name, sorts);
  return output.valid() && sorts.empty() ? text + " of sort " + schema_.sort(output).name : text;
}

std::string print_call_sorts(const Schema& schema, const std::string& name,
                             std::span<const SortId> sorts) {
  std::string text = "(" + name;
  for (SortId sort : sorts) text += " " + (sort.valid() ? schema.sort(sort).name : "?");
  return text + ")";
}

}  // namespace luminal::egraph
