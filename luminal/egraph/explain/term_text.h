// TermText: values as terms to read, for messages; and terms as values, where they are there.
#pragma once

#include "luminal/egraph/extract/extract.h"
#include "luminal/egraph/saturate/engine.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace luminal::egraph {

// Works on the e-graph of the moment: make a new one after changes. The database must be rebuilt.
class TermText {
 public:
  explicit TermText(const Database& database);

  // The cheapest term of a class, or `(Add …)#7` where that is long; base values as literals.
  std::string print(Value value, SortId sort) const;
  // A call with its arguments printed so.
  std::string print_call(const std::string& name, std::span<const SortId> sorts,
                         std::span<const Value> arguments) const;
  // A row of a table: the call, and for a function of base values also the value.
  std::string print_row(FunctionId function, uint32_t row) const;

 private:
  const Database& database_;
  TermExtractor extractor_;
};

struct TermLookup {
  std::optional<Value> value;  // none where the term isn't there
  SortId sort;
  std::string missing;  // the innermost part that isn't there
};

// The value of a term that is there already; adds nothing. UserError where the text is wrong.
TermLookup look_up_term(Engine& engine, std::string_view text, std::string_view source);

}  // namespace luminal::egraph
