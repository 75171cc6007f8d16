#include "luminal/text/jinja/template_render.h"

#include <fmt/format.h>

#include <ctime>
#include <map>

#include "luminal/base/errors.h"
#include "luminal/base/text/printable.h"
#include "luminal/text/jinja/template_functions.h"
#include "luminal/text/jinja/template_operators.h"

namespace luminal::tokens {

// The variable `loop` inside a loop.
struct TemplateLoop {
  std::shared_ptr<const TemplateList> items;
  size_t index = 0;
};

namespace {

using Value = TemplateValue;
using ExprKind = TemplateExpr::Kind;
using StatementKind = TemplateStatement::Kind;
using Scope = std::map<std::string, Value, std::less<>>;

constexpr size_t kMaxRange = 100'000;
constexpr std::string_view kFunctions[] = {"range", "dict", "namespace", "raise_exception",
                                           "strftime_now"};

enum class Flow : uint8_t { On, Break, Continue };

class Renderer {
 public:
  Renderer(const TemplateDict& context, int64_t now, TemplateBudget budget)
      : now_(now), budget_(budget) {
    scopes_.emplace_back();
    for (const auto& [name, value] : context) scopes_[0][name] = value;
  }

  MarkedText render(const TemplateBody& body) {
    run(body);
    return std::move(out_);
  }

 private:
  // RAII nesting counter, which bounds the stack.
  struct Nested {
    explicit Nested(Renderer& of) : renderer(of) {
      if (--renderer.budget_.depth < 0) renderer.budget_.fail("calls are nested too deeply");
    }
    ~Nested() { ++renderer.budget_.depth; }
    Renderer& renderer;
  };

  // ---- statements

  Flow run(const TemplateBody& body) {
    const Nested nested(*this);
    for (const TemplateStatement& statement : body) {
      budget_.line = statement.line;
      budget_.step();
      const Flow flow = run(statement);
      if (flow != Flow::On) return flow;
    }
    return Flow::On;
  }

  Flow run(const TemplateStatement& statement) {
    switch (statement.kind) {
      case StatementKind::Text:
        print(statement.text);
        return Flow::On;
      case StatementKind::Print:
        print_value(eval(*statement.exprs[0]));
        return Flow::On;
      case StatementKind::If:
        return run_if(statement);
      case StatementKind::For:
        run_for(statement);
        return Flow::On;
      case StatementKind::Set:
        run_set(statement);
        return Flow::On;
      case StatementKind::SetBlock:
        assign(statement, Value::of(captured(statement.bodies[0])));
        return Flow::On;
      case StatementKind::Macro:
        scopes_.back()[statement.text] =
            Value::Data(std::make_shared<const TemplateMacro>(TemplateMacro{&statement}));
        return Flow::On;
      case StatementKind::Block:
        return run(statement.bodies[0]);
      case StatementKind::Break:
        return Flow::Break;
      case StatementKind::Continue:
        return Flow::Continue;
    }
    return Flow::On;
  }

  void print_value(const Value& value) {
    budget_.spend(value.weight());
    if (const MarkedText* text = value.marked_text()) {
      print(*text);
    } else {
      print(value.marked_str());
    }
  }

  template <typename Text>  // MarkedText, or std::string for the template's own text
  void print(const Text& text) {
    if (text.size() > budget_.output - out_.size()) {
      budget_.fail(fmt::format("it prints more than {} bytes", budget_.output));
    }
    out_.append(text);
  }

  MarkedText captured(const TemplateBody& body) {
    MarkedText outer = std::exchange(out_, {});
    run(body);
    budget_.spend(out_.weight());
    return std::exchange(out_, std::move(outer));
  }

  Flow run_if(const TemplateStatement& statement) {
    for (size_t i = 0; i < statement.exprs.size(); ++i) {
      if (eval(*statement.exprs[i]).truth()) return run(statement.bodies[i]);
    }
    const bool has_else = statement.bodies.size() > statement.exprs.size();
    return has_else ? run(statement.bodies.back()) : Flow::On;
  }

  void run_for(const TemplateStatement& statement) {
    TemplateList all = iterated(eval(*statement.exprs[0]), budget_);
    budget_.spend(all.size() * sizeof(Value));
    auto items = std::make_shared<TemplateList>();
    for (Value& item : all) {
      if (!statement.exprs[1]) {
        items->push_back(std::move(item));
        continue;
      }
      scopes_.emplace_back();
      bind(statement, item);
      const bool wanted = eval(*statement.exprs[1]).truth();
      scopes_.pop_back();
      if (wanted) items->push_back(std::move(item));
    }
    if (items->empty()) {
      run(statement.bodies[1]);
      return;
    }
    for (size_t i = 0; i < items->size(); ++i) {
      budget_.step();
      scopes_.emplace_back();
      scopes_.back()["loop"] =
          Value::Data(std::make_shared<const TemplateLoop>(TemplateLoop{items, i}));
      bind(statement, (*items)[i]);
      const Flow flow = run(statement.bodies[0]);
      scopes_.pop_back();
      if (flow == Flow::Break) break;
    }
  }

  // Assigns a value to the names of a 'for' or 'set': the value itself, or its items one by one.
  void bind(const TemplateStatement& statement, const Value& value) {
    if (statement.names.size() == 1) {
      scopes_.back()[statement.names[0]] = value;
      return;
    }
    const TemplateList parts = iterated(value, budget_);
    if (parts.size() != statement.names.size()) {
      budget_.fail(fmt::format("{} values can't be unpacked into {} names", parts.size(),
                               statement.names.size()));
    }
    for (size_t i = 0; i < parts.size(); ++i) scopes_.back()[statement.names[i]] = parts[i];
  }

  void run_set(const TemplateStatement& statement) { assign(statement, eval(*statement.exprs[0])); }

  void assign(const TemplateStatement& statement, Value value) {
    if (!statement.on_attribute) return bind(statement, value);
    const Value of = look_up(statement.names[0]);
    const auto* space = of.get_if<TemplateNamespace>();
    if (!space) {
      budget_.fail(fmt::format("'{}' isn't a namespace; only members of a namespace can be set",
                               statement.names[0]));
    }
    set_member(*space->members, statement.names[1], std::move(value));
  }

  void set_member(TemplateDict& members, const std::string& name, Value value) {
    if (value.depth() >= 100)
      budget_.fail("a namespace can't hold a namespace, or a value nested so deeply");
    for (auto& [key, member] : members) {
      if (key != name) continue;
      member = std::move(value);
      return;
    }
    budget_.spend(name.size() + sizeof(Value));
    members.emplace_back(name, std::move(value));
  }

  // ---- expressions

  Value look_up(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->find(name); found != scope->end()) return found->second;
    }
    for (std::string_view function : kFunctions) {
      if (function == name) return Value::Data(TemplateFunction{std::string(name)});
    }
    return Value::undefined(name);
  }

  Value eval(const TemplateExpr& expr) {
    const Nested nested(*this);
    budget_.line = expr.line;
    budget_.step();
    switch (expr.kind) {
      case ExprKind::Literal:
        return expr.value;
      case ExprKind::Name:
        return look_up(expr.text);
      case ExprKind::List: {
        TemplateList items;
        for (const auto& item : expr.items) items.push_back(eval(*item));
        budget_.spend(items.size() * sizeof(Value));
        return Value::of(std::move(items));
      }
      case ExprKind::Dict:
        return eval_dict(expr);
      case ExprKind::Attribute:
        return attribute(eval(*expr.items[0]), expr.text);
      case ExprKind::Item: {
        const Value of = eval(*expr.items[0]);
        return item_of(of, eval(*expr.items[1]), budget_);
      }
      case ExprKind::Slice:
        return eval_slice(expr);
      case ExprKind::Call:
        return eval_call(expr);
      case ExprKind::Filter: {
        const Value value = eval(*expr.items[0]);
        return apply_filter(expr.text, value, arguments(expr), budget_);
      }
      case ExprKind::Test: {
        const Value value = eval(*expr.items[0]);
        return Value::of(apply_test(expr.text, value, arguments(expr), budget_) != expr.negated);
      }
      case ExprKind::Not:
        return Value::of(!eval(*expr.items[0]).truth());
      case ExprKind::Negative:
        return negative(eval(*expr.items[0]), budget_);
      case ExprKind::And: {
        Value left = eval(*expr.items[0]);
        return left.truth() ? eval(*expr.items[1]) : left;
      }
      case ExprKind::Or: {
        Value left = eval(*expr.items[0]);
        return left.truth() ? left : eval(*expr.items[1]);
      }
      case ExprKind::Binary: {
        const Value left = eval(*expr.items[0]);
        const Value right = eval(*expr.items[1]);
        return apply_operator(expr.text, left, right, budget_);
      }
      case ExprKind::Conditional: {
        if (eval(*expr.items[1]).truth()) return eval(*expr.items[0]);
        return expr.items[2] ? eval(*expr.items[2]) : Value();
      }
    }
    return {};
  }

  Value eval_dict(const TemplateExpr& expr) {
    TemplateDict dict;
    bool marked_keys = false;
    for (size_t i = 0; i + 1 < expr.items.size(); i += 2) {
      const Value key = eval(*expr.items[i]);
      if (!key.text()) budget_.fail(fmt::format("{} can't be a key of a dict", key.kind()));
      marked_keys = marked_keys || key.marked();
      put(dict, *key.text(), eval(*expr.items[i + 1]));
    }
    return Value::of(std::move(dict), marked_keys);
  }

  void put(TemplateDict& dict, const std::string& key, Value value) {
    budget_.spend(key.size() + sizeof(Value));
    for (auto& [name, member] : dict) {
      if (name != key) continue;
      member = std::move(value);
      return;
    }
    dict.emplace_back(key, std::move(value));
  }

  Value eval_slice(const TemplateExpr& expr) {
    const Value of = eval(*expr.items[0]);
    std::optional<int64_t> parts[3];
    for (size_t i = 0; i < 3; ++i) {
      if (!expr.items[i + 1]) continue;
      const Value part = eval(*expr.items[i + 1]);
      if (part.is_none()) continue;
      const int64_t* number = part.get_if<int64_t>();
      if (!number) budget_.fail(fmt::format("{} can't bound a slice", part.kind()));
      parts[i] = *number;
    }
    return slice_of(of, parts[0], parts[1], parts[2], budget_);
  }

  Value attribute(const Value& value, const std::string& name) {
    if (const auto* loop = value.get_if<std::shared_ptr<const TemplateLoop>>()) {
      return loop_attribute(**loop, name);
    }
    return attribute_of(value, name, budget_);
  }

  static Value loop_attribute(const TemplateLoop& loop, std::string_view name) {
    const auto n = static_cast<int64_t>(loop.items->size());
    const auto index = static_cast<int64_t>(loop.index);
    if (name == "index") return Value::of(index + 1);
    if (name == "index0") return Value::of(index);
    if (name == "revindex") return Value::of(n - index);
    if (name == "revindex0") return Value::of(n - index - 1);
    if (name == "first") return Value::of(index == 0);
    if (name == "last") return Value::of(index + 1 == n);
    if (name == "length") return Value::of(n);
    if (name == "depth") return Value::of(int64_t{1});  // only recursive loops are deeper
    if (name == "depth0") return Value::of(int64_t{0});
    if (name == "previtem" && index > 0) return (*loop.items)[loop.index - 1];
    if (name == "nextitem" && index + 1 < n) return (*loop.items)[loop.index + 1];
    return Value::undefined(name);
  }

  // ---- calls

  TemplateArguments arguments(const TemplateExpr& expr) {
    TemplateArguments result;
    for (size_t i = 1; i < expr.items.size(); ++i) result.values.push_back(eval(*expr.items[i]));
    for (const auto& [name, value] : expr.named) result.named.emplace_back(name, eval(*value));
    return result;
  }

  Value eval_call(const TemplateExpr& expr) {
    const TemplateExpr& callee = *expr.items[0];
    if (callee.kind == ExprKind::Attribute) {
      const Value of = eval(*callee.items[0]);
      if (const auto result = method(of, callee.text, arguments(expr))) return *result;
      return call(attribute(of, callee.text), callee.text, arguments(expr));
    }
    return call(eval(callee), callee.text, arguments(expr));
  }

  std::optional<Value> method(const Value& of, const std::string& name,
                              const TemplateArguments& given) {
    if (const auto* loop = of.get_if<std::shared_ptr<const TemplateLoop>>()) {
      if (name != "cycle" || given.values.empty()) return std::nullopt;
      return given.values[(*loop)->index % given.values.size()];
    }
    if (of.dict() && !is_dict_method(name)) return std::nullopt;
    return call_method(of, name, given, budget_);
  }

  Value call(const Value& callee, const std::string& name, const TemplateArguments& given) {
    if (const auto* function = callee.get_if<TemplateFunction>()) {
      return call_function(function->name, given);
    }
    if (const auto* macro = callee.get_if<std::shared_ptr<const TemplateMacro>>()) {
      return call_macro(*(*macro)->statement, given);
    }
    budget_.fail(fmt::format("'{}' is {}; it can't be called", name.substr(0, 60), callee.kind()));
  }

  Value call_function(const std::string& name, const TemplateArguments& given) {
    if (name == "range") return range(given);
    if (name == "raise_exception") {
      throw UserError(fmt::format("chat template: the template rejects this conversation: {}",
                                  base::printable(given.text(0, "message", "it doesn't say why"))));
    }
    if (name == "strftime_now") return formatted_time(given);
    TemplateDict members;
    const bool from_dict = !given.values.empty() && given.values[0].dict();
    if (from_dict) members = *given.values[0].dict();
    for (const auto& [key, value] : given.named) put(members, key, value);
    if (name == "dict") {
      return Value::of(std::move(members), from_dict && given.values[0].marked());
    }
    if (name == "namespace") {
      auto shared = std::make_shared<TemplateDict>();
      for (auto& [key, value] : members) set_member(*shared, key, std::move(value));
      return Value::Data(TemplateNamespace{std::move(shared)});
    }
    budget_.fail(fmt::format("the function '{}' isn't supported", name));
  }

  Value range(const TemplateArguments& given) {
    int64_t numbers[3] = {0, 0, 1};
    const size_t n = given.values.size();
    if (n == 0 || n > 3) budget_.fail("'range' takes one to three numbers");
    for (size_t i = 0; i < n; ++i) {
      const int64_t* number = given.values[i].get_if<int64_t>();
      if (!number) budget_.fail("'range' takes integers");
      numbers[n == 1 ? 1 : i] = *number;
    }
    const auto [begin, end, by] = numbers;
    if (by == 0) budget_.fail("'range' has the step 0");
    TemplateList items;
    for (int64_t at = begin; by > 0 ? at < end : at > end;) {
      if (items.size() >= kMaxRange)
        budget_.fail(fmt::format("'range' has more than {} items", kMaxRange));
      items.push_back(Value::of(at));
      if (__builtin_add_overflow(at, by, &at)) break;
    }
    budget_.spend(items.size() * sizeof(Value));
    return Value::of(std::move(items));
  }

  Value formatted_time(const TemplateArguments& given) {
    const std::string format = given.text(0, "format", "%Y-%m-%d");
    if (format.size() > 200) budget_.fail("the format of 'strftime_now' is too long");
    const auto seconds = static_cast<std::time_t>(now_);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char buffer[2048];
    const size_t n = std::strftime(buffer, sizeof(buffer), format.c_str(), &parts);
    const Value* argument = given.get(0, "format");
    return Value::of(MarkedText({buffer, n}, argument && argument->marked()));
  }

  // A macro sees the template's variables, its own, and its arguments.
  Value call_macro(const TemplateStatement& macro, const TemplateArguments& given) {
    Scope own;
    const size_t n = macro.names.size();
    if (given.values.size() > n) {
      budget_.fail(
          fmt::format("macro '{}' takes {} values, not {}", macro.text, n, given.values.size()));
    }
    for (size_t i = 0; i < n; ++i) {
      const size_t required = n - macro.exprs.size();
      const Value* value = given.get(i, macro.names[i]);
      if (value) {
        own[macro.names[i]] = *value;
      } else if (i >= required) {
        own[macro.names[i]] = eval(*macro.exprs[i - required]);
      } else {
        own[macro.names[i]] = Value::undefined(macro.names[i]);
      }
    }
    std::vector<Scope> outer = std::exchange(scopes_, {});
    scopes_.push_back(outer[0]);
    scopes_.push_back(std::move(own));
    MarkedText text = captured(macro.bodies[0]);
    outer[0] = std::move(scopes_[0]);
    scopes_ = std::move(outer);
    return Value::of(std::move(text));
  }

  int64_t now_;
  TemplateBudget budget_;
  std::vector<Scope> scopes_;
  MarkedText out_;
};

}  // namespace

MarkedText render_template(const TemplateBody& body, const TemplateDict& context, int64_t now,
                           TemplateBudget budget) {
  return Renderer(context, now, budget).render(body);
}

}  // namespace luminal::tokens
