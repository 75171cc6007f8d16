// FormParser: the pieces of the parser, one source file per part of the language.
#pragma once

#include "luminal/egraph/language/ast.h"

#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace luminal::egraph {

// Each top-level form adds the commands it expands to.
class FormParser {
 public:
  explicit FormParser(std::string_view source) : source_(source) {}

  void parse(const base::Sexpr& form);
  std::vector<Command> take() { return std::move(commands_); }
  Expr expr(const base::Sexpr& form) const;

 private:
  using Sexpr = base::Sexpr;
  // The options at the end of a form, `:name "x" :when (…)`, each with the forms up to the next.
  using Options = std::map<std::string, std::span<const Sexpr>, std::less<>>;
  using Items = std::span<const Sexpr>;
  struct Form;

  // parser.cpp: pieces of forms
  static const Form* find_form(std::string_view name);
  [[noreturn]] void fail(const Sexpr& at, const std::string& message) const {
    base::fail_at(source_, at.position, message);
  }
  template <typename Body>
  void add(const Sexpr& form, Body body) {
    commands_.push_back({.position = form.position, .body = std::move(body)});
  }
  static bool is_option(const Sexpr& form);
  const std::string& symbol(const Sexpr& form, const char* what) const;
  NameAt name(const Sexpr& form, const char* what) const {
    return {symbol(form, what), form.position};
  }
  std::vector<NameAt> names(Items forms, const char* what) const;
  const std::string& string(const Sexpr& form, const char* what) const;
  uint64_t number(const Sexpr& form, const char* what) const;
  const std::vector<Sexpr>& list(const Sexpr& form, const char* what) const;
  void expect_items(const Sexpr& form, size_t least, size_t most, const char* shape) const;
  // Splits a form into what comes before the options, and the options, which must all be known.
  std::pair<Items, Options> split(const Sexpr& form, size_t least, size_t most, const char* shape,
                                  std::initializer_list<const char*> known) const;
  // The single form of an option, or null if the option is absent.
  const Sexpr* option(const Sexpr& form, const Options& options, std::string_view name) const;
  bool flag(const Sexpr& form, const Options& options, std::string_view name) const;

  // parser_expressions.cpp, and `expr`
  void atom(const Sexpr& form, Expr& result) const;
  bool number_atom(const Sexpr& form, Expr& result) const;
  Expr call(const Sexpr& form, const char* what) const;
  Fact fact(const Sexpr& form) const;
  std::vector<Fact> facts(Items forms) const;
  ActionSyntax action(const Sexpr& form) const;

  // parser_declarations.cpp
  void sort(const Sexpr& form);
  void container_sort(const Sexpr& form);
  void datatype(const Sexpr& form);
  void datatypes(const Sexpr& form);
  void constructor(const Sexpr& form);
  void function(const Sexpr& form);
  void relation(const Sexpr& form);
  void variant(const Sexpr& form, const NameAt& sort);
  void read_cost(const Sexpr& form, const Options& options, FunctionDeclaration& into) const;

  // parser_rules.cpp
  void ruleset(const Sexpr& form);
  void combined_ruleset(const Sexpr& form);
  void rule(const Sexpr& form);
  void rewrite(const Sexpr& form) { add_rewrites(form, false); }
  void birewrite(const Sexpr& form) { add_rewrites(form, true); }
  void read_rule_options(const Sexpr& form, const Options& options, RuleDeclaration& into) const;
  void add_rewrites(const Sexpr& form, bool both);
  RuleDeclaration rewritten(const Sexpr& from, const Sexpr& to, const RuleDeclaration& common,
                            const char* suffix) const;

  // parser_commands.cpp
  ScheduleSyntax run_of(const Sexpr& form) const;
  ScheduleSyntax schedule(const Sexpr& form) const;
  void run(const Sexpr& form);
  void run_schedule(const Sexpr& form);
  void check(const Sexpr& form);
  void extract(const Sexpr& form);
  void print_size(const Sexpr& form);
  void print_function(const Sexpr& form);
  void print_stats(const Sexpr& form);
  void push(const Sexpr& form);
  void pop(const Sexpr& form);
  void include(const Sexpr& form);
  void input(const Sexpr& form);
  void output(const Sexpr& form);
  void fail_command(const Sexpr& form);

  std::string_view source_;
  std::vector<Command> commands_;
};

}  // namespace luminal::egraph
