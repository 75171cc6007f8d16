// Rulesets, rules and rewrites.
#include "luminal/egraph/language/form_parser.h"
#include "luminal/egraph/language/parser.h"

#include <utility>

namespace luminal::egraph {

void FormParser::ruleset(const Sexpr& form) {
  if (form.items.size() != 2) fail(form, "expected (ruleset name)");
  add(form, RulesetDeclaration{.name = symbol(form.items[1], "a name")});
}

void FormParser::combined_ruleset(const Sexpr& form) {
  if (form.items.size() < 2) fail(form, "expected (unstable-combined-ruleset name ruleset …)");
  add(form, RulesetDeclaration{.name = symbol(form.items[1], "a name"),
                               .is_combined = true,
                               .parts = names(Items(form.items).subspan(2), "a ruleset")});
}

void FormParser::read_rule_options(const Sexpr& form, const Options& options,
                                   RuleDeclaration& into) const {
  if (const Sexpr* text = option(form, options, ":name")) into.name = string(*text, "a name");
  if (const Sexpr* set = option(form, options, ":ruleset")) {
    into.ruleset = symbol(*set, "a ruleset");
  }
}

void FormParser::rule(const Sexpr& form) {
  const auto [items, options] =
      split(form, 3, 3, "(rule (fact …) (action …) [:ruleset r] [:name \"n\"] [:naive])",
            {":ruleset", ":name", ":naive"});
  RuleDeclaration declaration;
  declaration.facts = facts(list(items[1], "a list of facts"));
  for (const Sexpr& item : list(items[2], "a list of actions")) {
    if (!item.is_list()) fail(item, "an action is a call, found " + print(item));
    declaration.actions.push_back(action(item));
  }
  read_rule_options(form, options, declaration);
  declaration.naive = flag(form, options, ":naive");
  add(form, std::move(declaration));
}

void FormParser::add_rewrites(const Sexpr& form, bool both) {
  const char* shape =
      both ? "(birewrite left right [:when (fact …)] [:ruleset r] [:name \"n\"])"
           : "(rewrite left right [:subsume] [:when (fact …)] [:ruleset r] [:name \"n\"])";
  const auto [items, options] =
      split(form, 3, 3, shape, {":when", ":ruleset", ":name", ":subsume"});
  const bool subsumes = flag(form, options, ":subsume");
  if (both && subsumes) {
    fail(form, "':subsume' would remove both sides of a birewrite; write two rewrites");
  }
  RuleDeclaration common;
  read_rule_options(form, options, common);
  if (const Sexpr* when = option(form, options, ":when")) {
    common.facts = facts(list(*when, "a list of facts"));
  }
  const char* forward = both && !common.name.empty() ? "=>" : "";
  RuleDeclaration rule = rewritten(items[1], items[2], common, forward);
  if (subsumes) {
    call(items[1], ":subsume");
    rule.actions.push_back({.kind = ActionSyntax::Kind::Subsume,
                            .position = items[1].position,
                            .exprs = {expr(items[1])}});
  }
  add(form, std::move(rule));
  if (both) {
    add(form, rewritten(items[2], items[1], common, common.name.empty() ? "" : "<="));
  }
}

RuleDeclaration FormParser::rewritten(const Sexpr& from, const Sexpr& to,
                                      const RuleDeclaration& common, const char* suffix) const {
  RuleDeclaration result = common;
  result.name += suffix;
  Expr left = expr(from);
  // A variable is allowed if a condition binds it.
  const bool is_bound = left.kind == Expr::Kind::Variable && !common.facts.empty();
  if (left.kind != Expr::Kind::Call && !is_bound) {
    fail(from, "a rewrite starts from a call, found " + print(from) +
                   ": a bare variable would match every class; say with :when what it is");
  }
  const Expr root{.kind = Expr::Kind::Variable, .position = from.position, .name = kRewriteRoot};
  result.facts.insert(result.facts.begin(),
                      {.position = from.position, .sides = {root, std::move(left)}});
  result.actions.push_back(
      {.kind = ActionSyntax::Kind::Union, .position = to.position, .exprs = {root, expr(to)}});
  return result;
}

}  // namespace luminal::egraph
