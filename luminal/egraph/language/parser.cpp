#include "luminal/egraph/language/parser.h"

#include "luminal/egraph/language/form_parser.h"

#include <charconv>

namespace luminal::egraph {

struct FormParser::Form {
  std::string_view name;
  void (*parse)(FormParser& parser, const Sexpr& form);
  const char* instead = nullptr;  // for an unsupported form: what to use instead
};

namespace {

// Wraps a member as a plain function: g++ 12 warns falsely about calls through member pointers.
template <auto member>
void call_member(FormParser& parser, const base::Sexpr& form) {
  (parser.*member)(form);
}

}  // namespace

const FormParser::Form* FormParser::find_form(std::string_view name) {
  static constexpr const char* kProofs =
      "ask for a proof from outside the program: `luminal egg FILE --explain 'TERM = TERM'`";
  static constexpr Form kForms[] = {
      {"sort", call_member<&FormParser::sort>},
      {"datatype", call_member<&FormParser::datatype>},
      {"datatype*", call_member<&FormParser::datatypes>},
      {"constructor", call_member<&FormParser::constructor>},
      {"function", call_member<&FormParser::function>},
      {"relation", call_member<&FormParser::relation>},
      {"ruleset", call_member<&FormParser::ruleset>},
      {"unstable-combined-ruleset", call_member<&FormParser::combined_ruleset>},
      {"rule", call_member<&FormParser::rule>},
      {"rewrite", call_member<&FormParser::rewrite>},
      {"birewrite", call_member<&FormParser::birewrite>},
      {"run", call_member<&FormParser::run>},
      {"run-schedule", call_member<&FormParser::run_schedule>},
      {"check", call_member<&FormParser::check>},
      {"extract", call_member<&FormParser::extract>},
      {"print-size", call_member<&FormParser::print_size>},
      {"print-function", call_member<&FormParser::print_function>},
      {"print-stats", call_member<&FormParser::print_stats>},
      {"push", call_member<&FormParser::push>},
      {"pop", call_member<&FormParser::pop>},
      {"include", call_member<&FormParser::include>},
      {"input", call_member<&FormParser::input>},
      {"output", call_member<&FormParser::output>},
      {"fail", call_member<&FormParser::fail_command>},
      {"prove", nullptr, kProofs},
      {"prove-exists", nullptr, kProofs},
  };
  for (const Form& form : kForms) {
    if (form.name == name) return &form;
  }
  return nullptr;
}

void FormParser::parse(const Sexpr& form) {
  if (!form.is_list() || form.items.empty() || !form.items[0].is_atom()) {
    fail(form, "expected a command such as (rewrite …)");
  }
  const Form* known = find_form(form.items[0].text);
  if (known == nullptr) return add(form, action(form));
  if (known->parse == nullptr) {
    fail(form, "'" + form.items[0].text + "' isn't supported: " + known->instead);
  }
  known->parse(*this, form);
}

bool FormParser::is_option(const Sexpr& form) {
  return form.is_atom() && form.text.size() > 1 && form.text[0] == ':';
}

const std::string& FormParser::symbol(const Sexpr& form, const char* what) const {
  if (!form.is_atom()) fail(form, std::string("expected ") + what + ", found " + print(form));
  return form.text;
}

std::vector<NameAt> FormParser::names(Items forms, const char* what) const {
  std::vector<NameAt> result;
  for (const Sexpr& form : forms) result.push_back(name(form, what));
  return result;
}

const std::string& FormParser::string(const Sexpr& form, const char* what) const {
  if (!form.is_string()) {
    fail(form, std::string("expected ") + what + " in quotes, found " + print(form));
  }
  return form.text;
}

uint64_t FormParser::number(const Sexpr& form, const char* what) const {
  uint64_t value = 0;
  const char* end = form.text.data() + form.text.size();
  const auto [rest, error] = std::from_chars(form.text.data(), end, value);
  if (!form.is_atom() || form.text.empty() || error != std::errc() || rest != end) {
    fail(form, std::string("expected ") + what + ", a natural number, found " + print(form));
  }
  return value;
}

const std::vector<base::Sexpr>& FormParser::list(const Sexpr& form, const char* what) const {
  if (!form.is_list()) fail(form, std::string("expected ") + what + ", found " + print(form));
  return form.items;
}

void FormParser::expect_items(const Sexpr& form, size_t least, size_t most,
                              const char* shape) const {
  if (form.items.size() < least || form.items.size() > most) {
    fail(form, std::string("expected ") + shape);
  }
}

std::pair<FormParser::Items, FormParser::Options> FormParser::split(
    const Sexpr& form, size_t least, size_t most, const char* shape,
    std::initializer_list<const char*> known) const {
  const Items items(form.items);
  size_t count = 0;
  while (count < items.size() && !is_option(items[count])) ++count;
  if (count < least || count > most) fail(form, std::string("expected ") + shape);
  Options options;
  for (size_t at = count; at < items.size();) {
    const Sexpr& key = items[at];
    size_t end = at + 1;
    while (end < items.size() && !is_option(items[end])) ++end;
    bool is_known = false;
    for (const char* option_name : known) is_known |= key.text == option_name;
    if (!is_known) {
      fail(key,
           "'" + key.text + "' is not an option of '" + print(items[0]) + "'; expected " + shape);
    }
    if (!options.emplace(key.text, items.subspan(at + 1, end - at - 1)).second) {
      fail(key, "'" + key.text + "' is given twice");
    }
    at = end;
  }
  return {items.first(count), std::move(options)};
}

const base::Sexpr* FormParser::option(const Sexpr& form, const Options& options,
                                      std::string_view option_name) const {
  const auto entry = options.find(option_name);
  if (entry == options.end()) return nullptr;
  if (entry->second.size() != 1) {
    fail(form, "'" + std::string(option_name) + "' takes one value, found " +
                   std::to_string(entry->second.size()));
  }
  return &entry->second[0];
}

bool FormParser::flag(const Sexpr& form, const Options& options,
                      std::string_view option_name) const {
  const auto entry = options.find(option_name);
  if (entry == options.end()) return false;
  if (!entry->second.empty()) fail(form, "'" + std::string(option_name) + "' takes no value");
  return true;
}

std::vector<Command> parse(std::string_view text, std::string_view source) {
  FormParser parser(source);
  for (const base::Sexpr& form : base::read_sexprs(text, source)) parser.parse(form);
  return parser.take();
}

Expr parse_expr(std::string_view text, std::string_view source) {
  const std::vector<base::Sexpr> forms = base::read_sexprs(text, source);
  if (forms.size() == 1) return FormParser(source).expr(forms[0]);
  base::fail_at(source, forms.size() > 1 ? forms[1].position : SourcePosition{},
                "expected one term, found " + std::to_string(forms.size()));
}

}  // namespace luminal::egraph
