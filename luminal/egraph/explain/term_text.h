// TermText: prints values as terms, for messages; and looks terms up by their text.
#pragma once

#include "luminal/egraph/extract/extract.h"
#include "luminal/egraph/saturate/engine.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace luminal::egraph {

// Describes the e-graph at construction; make a new one after changes. Needs a rebuilt database.
class TermText {
 public:
  explicit TermText(const Database& database);

  // The cheapest term of a class, abbreviated to `(Add …)#7` if long; base values as literals.
  std::string print(Value value, SortId sort) const;
  // A call, with its arguments printed likewise.
  std::string print_call(const std::string& name, std::span<const SortId> sorts,
                         std::span<const Value> arguments) const;
  // A row of a table: the call, and the value too for a function to base values.
  std::string print_row(FunctionId function, uint32_t row) const;

 private:
  const Database& database_;
  TermExtractor extractor_;
};

struct TermLookup {
  std::optional<Value> value;  // none if the term isn't in the e-graph
  SortId sort;
  std::string missing;  // the innermost part that isn't in the e-graph
};

// The value of a term that is in the e-graph; adds nothing. UserError if the text is wrong.
TermLookup look_up_term(Engine& engine, std::string_view text, std::string_view source);

}  // namespace luminal::egraph
