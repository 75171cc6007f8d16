// Declarations of sorts, constructors, functions and relations.
#include "luminal/egraph/language/form_parser.h"

#include <utility>

namespace luminal::egraph {

void FormParser::sort(const Sexpr& form) {
  expect_items(form, 2, 3, "(sort Name), or (sort Name (Vec Sort)) for a container");
  if (form.items.size() == 3) return container_sort(form);
  add(form, SortDeclaration{.name = symbol(form.items[1], "a name")});
}

// (sort Name (Vec Sort)), at the top level or inside datatype*.
void FormParser::container_sort(const Sexpr& form) {
  const char* shape =
      "(sort Name (Vec Sort)), (sort Name (Set Sort)) or (sort Name (Map Sort Sort))";
  expect_items(form, 3, 3, shape);
  if (list(form.items[2], shape).empty()) fail(form.items[2], std::string("expected ") + shape);
  const Items call(form.items[2].items);
  if (!call[0].is_atom("Vec") && !call[0].is_atom("Set") && !call[0].is_atom("Map")) {
    fail(call[0], "there is no container '" + print(call[0]) +
                      "'; this engine has (Vec Sort), (Set Sort) and (Map Sort Sort)");
  }
  add(form, SortDeclaration{.name = symbol(form.items[1], "a name"),
                            .container = name(call[0], "Vec, Set or Map"),
                            .elements = names(call.subspan(1), "a sort")});
}

void FormParser::variant(const Sexpr& form, const NameAt& sort) {
  list(form, "a variant such as (Add Expr Expr)");
  const auto [items, options] = split(form, 1, Schema::kMaxInputs + 1000,
                                      "(Variant Sort … [:cost n])", {":cost", ":unextractable"});
  FunctionDeclaration declaration{
      .name = symbol(items[0], "the name of a variant"),
      .inputs = names(items.subspan(1), "a sort"),
      .output = sort,
  };
  read_cost(form, options, declaration);
  add(form, std::move(declaration));
}

void FormParser::read_cost(const Sexpr& form, const Options& options,
                           FunctionDeclaration& into) const {
  if (const Sexpr* cost = option(form, options, ":cost")) into.cost = number(*cost, "a cost");
  into.extractable = !flag(form, options, ":unextractable");
}

void FormParser::datatype(const Sexpr& form) {
  if (form.items.size() < 2) fail(form, "expected (datatype Name (Variant Sort …) …)");
  const NameAt sort = name(form.items[1], "a name");
  add(form, SortDeclaration{.name = sort.name});
  for (size_t i = 2; i < form.items.size(); ++i) variant(form.items[i], sort);
}

// All sorts come first, because variants and containers may refer to any of them.
void FormParser::datatypes(const Sexpr& form) {
  const Items types = Items(form.items).subspan(1);
  for (const Sexpr& type : types) {
    if (list(type, "a type such as (Name (Variant Sort …) …)").empty()) {
      fail(type, "expected (Name (Variant Sort …) …)");
    }
    if (!type.is_call("sort")) add(type, SortDeclaration{.name = symbol(type.items[0], "a name")});
  }
  for (const Sexpr& type : types) {
    if (type.is_call("sort")) container_sort(type);
  }
  for (const Sexpr& type : types) {
    if (type.is_call("sort")) continue;
    const NameAt sort{type.items[0].text, type.items[0].position};
    for (size_t i = 1; i < type.items.size(); ++i) variant(type.items[i], sort);
  }
}

void FormParser::constructor(const Sexpr& form) {
  const auto [items, options] =
      split(form, 4, 4, "(constructor name (Sort …) Sort [:cost n])", {":cost", ":unextractable"});
  FunctionDeclaration declaration{
      .name = symbol(items[1], "a name"),
      .inputs = names(list(items[2], "a list of argument sorts"), "a sort"),
      .output = {symbol(items[3], "a sort"), items[3].position},
  };
  read_cost(form, options, declaration);
  add(form, std::move(declaration));
}

void FormParser::function(const Sexpr& form) {
  const char* shape = "(function name (Sort …) Sort :merge expression) or … :no-merge)";
  const auto [items, options] = split(form, 4, 4, shape, {":merge", ":no-merge", ":unextractable"});
  FunctionDeclaration declaration{
      .name = symbol(items[1], "a name"),
      .kind = FunctionKind::Function,
      .inputs = names(list(items[2], "a list of argument sorts"), "a sort"),
      .output = {symbol(items[3], "a sort"), items[3].position},
  };
  const Sexpr* merge = option(form, options, ":merge");
  if ((merge != nullptr) == flag(form, options, ":no-merge")) {
    fail(form, std::string("say how two values merge: expected ") + shape);
  }
  if (merge != nullptr) declaration.merge = expr(*merge);
  declaration.extractable = !flag(form, options, ":unextractable");
  add(form, std::move(declaration));
}

void FormParser::relation(const Sexpr& form) {
  if (form.items.size() != 3) fail(form, "expected (relation name (Sort …))");
  add(form, FunctionDeclaration{
                .name = symbol(form.items[1], "a name"),
                .kind = FunctionKind::Relation,
                .inputs = names(list(form.items[2], "a list of argument sorts"), "a sort"),
                .output = {},
            });
}

}  // namespace luminal::egraph
