#include "luminal/egraph/parser.h"

#include <charconv>
#include <limits>
#include <map>
#include <span>
#include <utility>

namespace luminal::egraph {
namespace {

using base::Sexpr;

// The options at the end of a form, `:name "x" :when (…)`, each with the forms up to the next.
using Options = std::map<std::string, std::span<const Sexpr>, std::less<>>;

bool is_option(const Sexpr& form) {
  return form.is_atom() && form.text.size() > 1 && form.text[0] == ':';
}

class Parser {
 public:
  explicit Parser(std::string_view source) : source_(source) {}

  void parse(const Sexpr& form) {
    if (!form.is_list() || form.items.empty() || !form.items[0].is_atom()) {
      fail(form, "expected a command such as (rewrite …)");
    }
    const Form* known = find_form(form.items[0].text);
    if (known == nullptr) return add(form, action(form));
    if (known->parse == nullptr) {
      fail(form, "'" + form.items[0].text + "' isn't supported by this engine yet");
    }
    known->parse(*this, form);
  }

  std::vector<Command> take() { return std::move(commands_); }

  Expr parse_expr(std::string_view text) const {
    const std::vector<Sexpr> forms = base::read_sexprs(text, source_);
    if (forms.size() == 1) return expr(forms[0]);
    base::fail_at(source_, forms.size() > 1 ? forms[1].position : SourcePosition{},
                  "expected one term, found " + std::to_string(forms.size()));
  }

 private:
  struct Form {
    std::string_view name;
    void (*parse)(Parser& parser, const Sexpr& form);  // null: not supported yet
  };

  // A member as a plain function: g++ 12 warns falsely where members are called through pointers.
  template <void (Parser::*member)(const Sexpr& form)>
  static void call(Parser& parser, const Sexpr& form) {
    (parser.*member)(form);
  }

  static const Form* find_form(std::string_view name) {
    static constexpr Form kForms[] = {
        {"sort", call<&Parser::sort>},
        {"datatype", call<&Parser::datatype>},
        {"datatype*", call<&Parser::datatypes>},
        {"constructor", call<&Parser::constructor>},
        {"function", call<&Parser::function>},
        {"relation", call<&Parser::relation>},
        {"ruleset", call<&Parser::ruleset>},
        {"rule", call<&Parser::rule>},
        {"rewrite", call<&Parser::rewrite>},
        {"birewrite", call<&Parser::birewrite>},
        {"run", call<&Parser::run>},
        {"run-schedule", call<&Parser::run_schedule>},
        {"check", call<&Parser::check>},
        {"extract", call<&Parser::extract>},
        {"print-size", call<&Parser::print_size>},
        {"fail", call<&Parser::fail_command>},
        {"subsume", nullptr},
        {"push", nullptr},
        {"pop", nullptr},
        {"include", nullptr},
        {"input", nullptr},
        {"output", nullptr},
        {"print-function", nullptr},
        {"print-stats", nullptr},
        {"unstable-combined-ruleset", nullptr},
    };
    for (const Form& form : kForms) {
      if (form.name == name) return &form;
    }
    return nullptr;
  }

  [[noreturn]] void fail(const Sexpr& at, const std::string& message) const {
    base::fail_at(source_, at.position, message);
  }

  template <typename Body>
  void add(const Sexpr& form, Body body) {
    commands_.push_back({.position = form.position, .body = std::move(body)});
  }

  // --- pieces -------------------------------------------------------------------------------

  const std::string& symbol(const Sexpr& form, const char* what) const {
    if (!form.is_atom()) fail(form, std::string("expected ") + what + ", found " + print(form));
    return form.text;
  }

  const std::string& string(const Sexpr& form, const char* what) const {
    if (!form.is_string()) {
      fail(form, std::string("expected ") + what + " in quotes, found " + print(form));
    }
    return form.text;
  }

  uint64_t number(const Sexpr& form, const char* what) const {
    uint64_t value = 0;
    const char* end = form.text.data() + form.text.size();
    const auto [rest, error] = std::from_chars(form.text.data(), end, value);
    if (!form.is_atom() || form.text.empty() || error != std::errc() || rest != end) {
      fail(form, std::string("expected ") + what + ", a natural number, found " + print(form));
    }
    return value;
  }

  const std::vector<Sexpr>& list(const Sexpr& form, const char* what) const {
    if (!form.is_list()) fail(form, std::string("expected ") + what + ", found " + print(form));
    return form.items;
  }

  // Splits a form into what stands before its options and the options, all of them known ones.
  std::pair<std::span<const Sexpr>, Options> split(const Sexpr& form, size_t least, size_t most,
                                                   const char* shape,
                                                   std::initializer_list<const char*> known) const {
    std::span<const Sexpr> items(form.items);
    size_t count = 0;
    while (count < items.size() && !is_option(items[count])) ++count;
    if (count < least || count > most) fail(form, std::string("expected ") + shape);
    Options options;
    for (size_t at = count; at < items.size();) {
      const Sexpr& key = items[at];
      size_t end = at + 1;
      while (end < items.size() && !is_option(items[end])) ++end;
      bool is_known = false;
      for (const char* name : known) is_known |= key.text == name;
      if (!is_known) {
        fail(key, "'" + key.text + "' is no option of '" + items[0].text + "'; expected " + shape);
      }
      if (!options.emplace(key.text, items.subspan(at + 1, end - at - 1)).second) {
        fail(key, "'" + key.text + "' is given twice");
      }
      at = end;
    }
    return {items.first(count), std::move(options)};
  }

  // The one form of an option, or null where the option is absent.
  const Sexpr* option(const Sexpr& form, const Options& options, std::string_view name) const {
    const auto entry = options.find(name);
    if (entry == options.end()) return nullptr;
    if (entry->second.size() != 1) {
      fail(form, "'" + std::string(name) + "' takes one value, found " +
                     std::to_string(entry->second.size()));
    }
    return &entry->second[0];
  }

  bool flag(const Sexpr& form, const Options& options, std::string_view name) const {
    const auto entry = options.find(name);
    if (entry == options.end()) return false;
    if (!entry->second.empty()) fail(form, "'" + std::string(name) + "' takes no value");
    return true;
  }

  // --- expressions --------------------------------------------------------------------------

  Expr expr(const Sexpr& form) const {
    Expr result{.position = form.position};
    if (form.is_string()) {
      result.kind = Expr::Kind::String;
      result.name = form.text;
    } else if (form.is_list()) {
      if (form.items.empty()) return result;  // unit
      result.kind = Expr::Kind::Call;
      result.name = symbol(form.items[0], "the name of a function or primitive");
      for (size_t i = 1; i < form.items.size(); ++i) result.args.push_back(expr(form.items[i]));
    } else {
      atom(form, result);
    }
    return result;
  }

  void atom(const Sexpr& form, Expr& result) const {
    const std::string& text = form.text;
    const char* end = text.data() + text.size();
    if (text == "true" || text == "false") {
      result.kind = Expr::Kind::Bool;
      result.boolean = text == "true";
      return;
    }
    if (text == "NaN" || text == "inf" || text == "-inf") {
      result.kind = Expr::Kind::F64;
      result.f64 = text == "NaN" ? std::numeric_limits<double>::quiet_NaN()
                                 : std::numeric_limits<double>::infinity();
      if (text[0] == '-') result.f64 = -result.f64;
      return;
    }
    const size_t digit = text[0] == '-' ? 1 : 0;
    if (digit < text.size() && text[digit] >= '0' && text[digit] <= '9') {
      if (const auto [rest, error] = std::from_chars(text.data(), end, result.i64); rest == end) {
        if (error != std::errc())
          fail(form, text + " doesn't fit 64 bits; write a float: " + text + ".0");
        result.kind = Expr::Kind::I64;
        return;
      }
      const auto [rest, error] = std::from_chars(text.data(), end, result.f64);
      if (rest != end || error != std::errc()) {
        fail(form, "'" + text + "' is no number; names don't start with a digit");
      }
      result.kind = Expr::Kind::F64;
      return;
    }
    if (is_option(form)) fail(form, "option '" + text + "' where a value was expected");
    result.kind = Expr::Kind::Variable;
    result.name = text;
  }

  Fact fact(const Sexpr& form) const {
    Fact result{.position = form.position, .sides = {}};
    if (!form.is_call("=")) {
      result.sides.push_back(expr(form));
      if (result.sides[0].kind != Expr::Kind::Call) {
        fail(form, "a fact is a call or (= a b), found " + print(form));
      }
      return result;
    }
    if (form.items.size() < 3) fail(form, "'=' compares two or more, as in (= a (f b))");
    for (size_t i = 1; i < form.items.size(); ++i) result.sides.push_back(expr(form.items[i]));
    return result;
  }

  std::vector<Fact> facts(std::span<const Sexpr> forms) const {
    std::vector<Fact> result;
    for (const Sexpr& form : forms) result.push_back(fact(form));
    return result;
  }

  Expr call(const Sexpr& form, const char* what) const {
    Expr result = expr(form);
    if (result.kind != Expr::Kind::Call) {
      fail(form, std::string(what) + " needs a call such as (f x), found " + print(form));
    }
    return result;
  }

  ActionSyntax action(const Sexpr& form) const {
    using Kind = ActionSyntax::Kind;
    ActionSyntax result{.position = form.position};
    const auto want = [&](size_t count, const char* shape) {
      if (form.items.size() != count) fail(form, std::string("expected ") + shape);
    };
    if (form.is_call("let")) {
      want(3, "(let name value)");
      result.kind = Kind::Let;
      result.name = symbol(form.items[1], "a name");
      result.exprs.push_back(expr(form.items[2]));
    } else if (form.is_call("set")) {
      want(3, "(set (function arguments …) value)");
      result.kind = Kind::Set;
      result.exprs.push_back(call(form.items[1], "set"));
      result.exprs.push_back(expr(form.items[2]));
    } else if (form.is_call("union")) {
      want(3, "(union a b)");
      result.kind = Kind::Union;
      result.exprs.push_back(expr(form.items[1]));
      result.exprs.push_back(expr(form.items[2]));
    } else if (form.is_call("delete")) {
      want(2, "(delete (function arguments …))");
      result.kind = Kind::Delete;
      result.exprs.push_back(call(form.items[1], "delete"));
    } else if (form.is_call("panic")) {
      want(2, "(panic \"message\")");
      result.kind = Kind::Panic;
      result.name = string(form.items[1], "a message");
    } else if (form.is_call("subsume")) {
      fail(form, "'subsume' isn't supported by this engine yet");
    } else {
      result.exprs.push_back(expr(form));
    }
    return result;
  }

  // --- declarations -------------------------------------------------------------------------

  void sort(const Sexpr& form) {
    if (form.items.size() == 3) fail(form, "container sorts aren't supported by this engine yet");
    if (form.items.size() != 2) fail(form, "expected (sort Name)");
    add(form, SortDeclaration{symbol(form.items[1], "a name")});
  }

  std::vector<NameAt> names(std::span<const Sexpr> forms) const {
    std::vector<NameAt> result;
    for (const Sexpr& form : forms) result.push_back({symbol(form, "a sort"), form.position});
    return result;
  }

  void variant(const Sexpr& form, const NameAt& sort) {
    list(form, "a variant such as (Add Expr Expr)");
    const auto [items, options] = split(form, 1, Schema::kMaxInputs + 1000,
                                        "(Variant Sort … [:cost n])", {":cost", ":unextractable"});
    FunctionDeclaration declaration{
        .name = symbol(items[0], "the name of a variant"),
        .inputs = names(items.subspan(1)),
        .output = sort,
    };
    read_cost(form, options, declaration);
    add(form, std::move(declaration));
  }

  void read_cost(const Sexpr& form, const Options& options, FunctionDeclaration& into) const {
    if (const Sexpr* cost = option(form, options, ":cost")) into.cost = number(*cost, "a cost");
    into.extractable = !flag(form, options, ":unextractable");
  }

  void datatype(const Sexpr& form) {
    if (form.items.size() < 2) fail(form, "expected (datatype Name (Variant Sort …) …)");
    const NameAt name{symbol(form.items[1], "a name"), form.items[1].position};
    add(form, SortDeclaration{name.name});
    for (size_t i = 2; i < form.items.size(); ++i) variant(form.items[i], name);
  }

  void datatypes(const Sexpr& form) {
    const std::span<const Sexpr> types = std::span(form.items).subspan(1);
    for (const Sexpr& type : types) {
      if (list(type, "a type such as (Name (Variant Sort …) …)").empty()) {
        fail(type, "expected (Name (Variant Sort …) …)");
      }
      if (type.is_call("sort")) fail(type, "container sorts aren't supported by this engine yet");
      add(type, SortDeclaration{symbol(type.items[0], "a name")});
    }
    for (const Sexpr& type : types) {
      const NameAt name{type.items[0].text, type.items[0].position};
      for (size_t i = 1; i < type.items.size(); ++i) variant(type.items[i], name);
    }
  }

  void constructor(const Sexpr& form) {
    const auto [items, options] = split(form, 4, 4, "(constructor name (Sort …) Sort [:cost n])",
                                        {":cost", ":unextractable"});
    FunctionDeclaration declaration{
        .name = symbol(items[1], "a name"),
        .inputs = names(list(items[2], "a list of argument sorts")),
        .output = {symbol(items[3], "a sort"), items[3].position},
    };
    read_cost(form, options, declaration);
    add(form, std::move(declaration));
  }

  void function(const Sexpr& form) {
    const char* shape = "(function name (Sort …) Sort :merge expression) or … :no-merge)";
    const auto [items, options] = split(form, 4, 4, shape, {":merge", ":no-merge"});
    FunctionDeclaration declaration{
        .name = symbol(items[1], "a name"),
        .kind = FunctionKind::Function,
        .inputs = names(list(items[2], "a list of argument sorts")),
        .output = {symbol(items[3], "a sort"), items[3].position},
    };
    const Sexpr* merge = option(form, options, ":merge");
    if ((merge != nullptr) == flag(form, options, ":no-merge")) {
      fail(form, std::string("say what two values make: expected ") + shape);
    }
    if (merge != nullptr) declaration.merge = expr(*merge);
    add(form, std::move(declaration));
  }

  void relation(const Sexpr& form) {
    if (form.items.size() != 3) fail(form, "expected (relation name (Sort …))");
    add(form, FunctionDeclaration{
                  .name = symbol(form.items[1], "a name"),
                  .kind = FunctionKind::Relation,
                  .inputs = names(list(form.items[2], "a list of argument sorts")),
                  .output = {},
              });
  }

  // --- rules --------------------------------------------------------------------------------

  void ruleset(const Sexpr& form) {
    if (form.items.size() != 2) fail(form, "expected (ruleset name)");
    add(form, RulesetDeclaration{symbol(form.items[1], "a name")});
  }

  void read_rule_options(const Sexpr& form, const Options& options, RuleDeclaration& into) const {
    if (const Sexpr* name = option(form, options, ":name")) into.name = string(*name, "a name");
    if (const Sexpr* set = option(form, options, ":ruleset")) {
      into.ruleset = symbol(*set, "a ruleset");
    }
  }

  void rule(const Sexpr& form) {
    const auto [items, options] = split(
        form, 3, 3, "(rule (fact …) (action …) [:ruleset r] [:name \"n\"])", {":ruleset", ":name"});
    RuleDeclaration declaration;
    declaration.facts = facts(list(items[1], "a list of facts"));
    for (const Sexpr& item : list(items[2], "a list of actions")) {
      if (!item.is_list()) fail(item, "an action is a call, found " + print(item));
      declaration.actions.push_back(action(item));
    }
    read_rule_options(form, options, declaration);
    add(form, std::move(declaration));
  }

  void rewrite(const Sexpr& form) { add_rewrites(form, false); }
  void birewrite(const Sexpr& form) { add_rewrites(form, true); }

  void add_rewrites(const Sexpr& form, bool both) {
    const auto [items, options] =
        split(form, 3, 3, "(rewrite left right [:when (fact …)] [:ruleset r] [:name \"n\"])",
              {":when", ":ruleset", ":name"});
    RuleDeclaration common;
    read_rule_options(form, options, common);
    if (const Sexpr* when = option(form, options, ":when")) {
      common.facts = facts(list(*when, "a list of facts"));
    }
    const char* forward = both && !common.name.empty() ? "=>" : "";
    add(form, rewritten(items[1], items[2], common, forward));
    if (both) {
      add(form, rewritten(items[2], items[1], common, common.name.empty() ? "" : "<="));
    }
  }

  RuleDeclaration rewritten(const Sexpr& from, const Sexpr& to, const RuleDeclaration& common,
                            const char* suffix) const {
    RuleDeclaration result = common;
    result.name += suffix;
    Expr left = expr(from);
    if (left.kind != Expr::Kind::Call) {
      fail(from, "a rewrite starts from a call, found " + print(from) +
                     ": a bare variable would match every class");
    }
    const Expr root{.kind = Expr::Kind::Variable, .position = from.position, .name = kRewriteRoot};
    result.facts.insert(result.facts.begin(),
                        {.position = from.position, .sides = {root, std::move(left)}});
    result.actions.push_back(
        {.kind = ActionSyntax::Kind::Union, .position = to.position, .exprs = {root, expr(to)}});
    return result;
  }

  // --- commands -----------------------------------------------------------------------------

  // (run [ruleset] [n]), as a command and in a schedule.
  ScheduleSyntax run_of(const Sexpr& form) const {
    const char* shape = "(run [ruleset] [times])";
    const auto [items, options] = split(form, 1, 3, shape, {});
    ScheduleSyntax run{.position = form.position};
    bool counted = false;
    uint64_t times = 1;
    for (const Sexpr& item : items.subspan(1)) {
      const bool is_number = item.is_atom() && item.text[0] >= '0' && item.text[0] <= '9';
      if (is_number && !counted) {
        times = number(item, "how often to run");
        counted = true;
      } else if (!is_number && run.ruleset.empty() && !counted) {
        run.ruleset = symbol(item, "a ruleset");
      } else {
        fail(item, std::string("expected ") + shape);
      }
    }
    if (!counted) return run;
    return {.kind = ScheduleSyntax::Kind::Repeat,
            .position = form.position,
            .times = times,
            .children = {std::move(run)}};
  }

  ScheduleSyntax schedule(const Sexpr& form) const {
    using Kind = ScheduleSyntax::Kind;
    if (form.is_atom()) return {.position = form.position, .ruleset = form.text};
    if (form.is_call("run")) return run_of(form);
    ScheduleSyntax result{.position = form.position};
    size_t first = 1;
    if (form.is_call("saturate")) {
      result.kind = Kind::Saturate;
    } else if (form.is_call("seq")) {
      result.kind = Kind::Sequence;
    } else if (form.is_call("repeat") && form.items.size() >= 2) {
      result.kind = Kind::Repeat;
      result.times = number(form.items[1], "how often to repeat");
      first = 2;
    } else {
      fail(form, "expected a schedule: a ruleset, (run …), (saturate …), (seq …) or (repeat n …)");
    }
    for (size_t i = first; i < form.items.size(); ++i) {
      result.children.push_back(schedule(form.items[i]));
    }
    return result;
  }

  void run(const Sexpr& form) { add(form, RunCommand{run_of(form)}); }

  void run_schedule(const Sexpr& form) {
    ScheduleSyntax all{.kind = ScheduleSyntax::Kind::Sequence, .position = form.position};
    for (size_t i = 1; i < form.items.size(); ++i) all.children.push_back(schedule(form.items[i]));
    add(form, RunCommand{std::move(all)});
  }

  void check(const Sexpr& form) {
    if (form.items.size() < 2) fail(form, "expected (check fact …)");
    add(form, CheckCommand{facts(std::span(form.items).subspan(1))});
  }

  void extract(const Sexpr& form) {
    if (form.items.size() != 2) fail(form, "expected (extract value)");
    add(form, ExtractCommand{expr(form.items[1])});
  }

  void print_size(const Sexpr& form) {
    if (form.items.size() > 2) fail(form, "expected (print-size [function])");
    add(form, PrintSizeCommand{form.items.size() == 2 ? symbol(form.items[1], "a function") : ""});
  }

  void fail_command(const Sexpr& form) {
    if (form.items.size() != 2) fail(form, "expected (fail (command …))");
    Parser inner(source_);
    inner.parse(form.items[1]);
    add(form, FailCommand{inner.take()});
  }

  std::string_view source_;
  std::vector<Command> commands_;
};

}  // namespace

std::vector<Command> parse(std::string_view text, std::string_view source) {
  Parser parser(source);
  for (const Sexpr& form : base::read_sexprs(text, source)) parser.parse(form);
  return parser.take();
}

Expr parse_expr(std::string_view text, std::string_view source) {
  return Parser(source).parse_expr(text);
}

}  // namespace luminal::egraph
