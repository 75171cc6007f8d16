// SortSolver: finds the sorts of unnamed values and the primitives that calls mean, from both ends:
// what is inside tells what comes out, and what is expected tells what to make.
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
  // The schema must outlive it and not change meanwhile.
  SortSolver(const Schema& schema, std::string_view source) : schema_(schema), source_(source) {}

  // A sort to be found, or known already. `name` is of the variable it belongs to, for messages.
  uint32_t make(SortId sort, std::string name, SourcePosition position);
  // UserError where the sort is known to be another.
  void require(uint32_t variable, SortId sort, SourcePosition position);
  void join(uint32_t a, uint32_t b, SourcePosition position);
  // A call of a primitive whose name is known; returns its number.
  uint32_t add_call(std::string name, std::vector<uint32_t> inputs, uint32_t output,
                    SourcePosition position);

  // UserError where the sorts that are known leave no primitive for a call, or several.
  void solve();

  // Not valid where nothing told it.
  SortId sort(uint32_t variable) const { return variables_[root(variable)].sort; }
  // After `solve`.
  PrimitiveId primitive(uint32_t call) const { return calls_[call].primitive; }
  // UserError where nothing told the sort.
  SortId known_sort(uint32_t variable) const;

 private:
  static constexpr uint32_t kNone = 0xffffffffu;
  struct Variable {
    SortId sort;
    std::string name;  // empty where the text gives none
    SourcePosition position;
    uint32_t joined = kNone;  // the variable it is equal to
  };
  struct Call {
    std::string name;
    std::vector<uint32_t> inputs;
    uint32_t output;
    SourcePosition position;
    PrimitiveId primitive = {};  // not valid until the sorts tell which
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

// As (name sort …): what was found, for messages.
std::string print_call_sorts(const Schema& schema, const std::string& name,
                             std::span<const SortId> sorts);

}  // namespace luminal::egraph
