// Questions about equality, given as ids or as text.
#include "luminal/egraph/explain/explain.h"

#include "luminal/base/errors.h"
#include "luminal/egraph/database/rebuild.h"
#include "luminal/egraph/explain/explainer.h"
#include "luminal/egraph/explain/term_text.h"
#include "luminal/egraph/language/parser.h"
#include "luminal/egraph/language/trimmed.h"

#include <string>

namespace luminal::egraph {

namespace {

void check_recorded(const Engine& engine) {
  if (engine.database.proofs) return;
  throw UserError("proofs weren't recorded; ask for them before anything is added");
}

// The position of the `=` between two terms, outside of parentheses and strings.
size_t equals_sign(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '(') ++depth;
    if (c == ')') --depth;
    const bool alone = i > 0 && i + 1 < text.size() && (text[i - 1] == ' ' || text[i - 1] == ')') &&
                       (text[i + 1] == ' ' || text[i + 1] == '(');
    if (c == '=' && depth == 0 && alone) return i;
  }
  throw UserError("'" + std::string(text) + "' is not an equality; ask 'TERM = TERM'");
}

}  // namespace

Explanation explain(Engine& engine, const UnionForest& forest, Value a, Value b) {
  check_recorded(engine);
  Explainer explainer(engine, forest);
  if (!explainer.are_equal(a, b)) throw UserError("these terms aren't equal in this e-graph");
  return explainer.explain(a, b, engine.database.sort_of(a));
}

Explanation explain(Engine& engine, std::string_view question) {
  check_recorded(engine);
  rebuild(engine.database);
  const size_t middle = equals_sign(question);
  const std::string_view sides[2] = {trimmed(question.substr(0, middle)),
                                     trimmed(question.substr(middle + 1))};
  const UnionForest forest(engine.database.proofs->unions(), engine.database.ids().size());
  Explainer explainer(engine, forest);
  Value ids[2];
  SortId sorts[2];
  for (size_t i = 0; i < 2; ++i) {
    const TermLookup found = look_up_term(engine, sides[i], "term");
    if (!found.value) {
      throw UserError(std::string(sides[i]) + " isn't in the e-graph: there is no " +
                      found.missing);
    }
    sorts[i] = found.sort;
    if (!engine.database.is_equality(found.sort)) {
      throw UserError(std::string(sides[i]) + " is of sort " +
                      engine.database.schema.sort(found.sort).name +
                      ", whose values aren't made equal; ask about terms");
    }
    ids[i] = explainer.asked(compile_expr(engine.scope("term"), parse_expr(sides[i], "term")));
  }
  const bool same_sort = sorts[0] == sorts[1];
  if (!same_sort || !explainer.are_equal(ids[0], ids[1])) {
    throw UserError(
        std::string(sides[0]) + " and " + std::string(sides[1]) +
        (same_sort ? " aren't equal in this e-graph" : " are of two sorts and never equal"));
  }
  return explainer.explain(ids[0], ids[1], sorts[0]);
}

}  // namespace luminal::egraph
