// SortSolver: infers the sorts of values and resolves overloaded primitives, in both directions:
// from arguments to results and from expected results to arguments.
#pragma once

#include "luminal/base/text/sexpr.h"
#include "luminal/egraph/schema.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::egraph {

using base::SourcePosition;

class SortSolver {
 public:
  // The schema must outlive the solver and must not change meanwhile.
  SortSolver(const Schema& schema, std::string_view source) : schema_(schema), source_(source) {}

  // Adds a sort variable, unknown or known. `name` is the variable it belongs to, for messages.
  uint32_t make(SortId sort, std::string name, SourcePosition position);
  // UserError if the sort is already known to be another.
  void require(uint32_t variable, SortId sort, SourcePosition position);
  void join(uint32_t a, uint32_t b, SourcePosition position);
  // Adds a call of a primitive by name; returns its number.
  uint32_t add_call(std::string name, std::vector<uint32_t> inputs, uint32_t output,
                    SourcePosition position);

  // UserError if the known sorts leave no primitive for a call, or several.
  void solve();

  // Invalid if nothing determines it.
  SortId sort(uint32_t variable) const { return variables_[root(variable)].sort; }
  // Valid after `solve`.
  PrimitiveId primitive(uint32_t call) const { return calls_[call].primitive; }
  // UserError if nothing determines the sort.
  SortId known_sort(uint32_t variable) const;

 private:
  static constexpr uint32_t kNone = 0xffffffffu;
  struct Variable {
    SortId sort;
    std::string name;  // empty if unnamed
    SourcePosition position;
    uint32_t joined = kNone;  // the variable it is equal to
  };
  struct Call {
    std::string name;
    std::vector<uint32_t> inputs;
    uint32_t output;
    SourcePosition position;
    PrimitiveId primitive = {};  // invalid until the sorts determine it
  };

  [[noreturn]] void fail(SourcePosition position, const std::string& message) const {
    base::fail_at(source_, position, message);
  }
  uint32_t root(uint32_t variable) const {
    while (variables_[variable].joined != kNone) variable = variables_[variable].joined;
    return variable;
  }
  bool fits(uint32_t variable, SortId sort) const;
  bool fits(const Call& call, const Primitive& primitive) const;
  bool resolve(Call& call);
  void fail_if_output_differs(const Call& call) const;
  std::string found_sorts(const Call& call) const;

  const Schema& schema_;
  std::string_view source_;
  std::vector<Variable> variables_;
  std::vector<Call> calls_;
};

// `(name sort …)`: the sorts found, for messages.
std::string print_call_sorts(const Schema& schema, const std::string& name,
                             std::span<const SortId> sorts);

}  // namespace luminal::egraph
