// The syntax tree of a chat template: statements and expressions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "luminal/text/jinja/template_value.h"

namespace luminal::tokens {

struct TemplateExpr;
using TemplateExprPtr = std::unique_ptr<TemplateExpr>;

struct TemplateExpr {
  enum class Kind : uint8_t {
    Literal,    // value
    Name,       // text
    List,       // items
    Dict,       // items: key, value, key, value …
    Attribute,  // items[0].text
    Item,       // items[0][items[1]]
    Slice,      // items[0][items[1]:items[2]:items[3]], null if omitted
    Call,       // items[0](items[1…], named…)
    Filter,     // items[0] | text(items[1…], named…)
    Test,       // items[0] is text(items[1…]); negated
    Not,
    Negative,
    And,
    Or,
    Binary,      // text is the operator: + - * / // % ** ~ and comparisons, "in", "not in"
    Conditional  // items[0] if items[1] else items[2], which may be null
  };
  Kind kind;
  int line = 0;
  int depth = 1;
  bool negated = false;
  std::string text;
  TemplateValue value;
  std::vector<TemplateExprPtr> items;
  std::vector<std::pair<std::string, TemplateExprPtr>> named;
};

struct TemplateStatement;
using TemplateBody = std::vector<TemplateStatement>;

struct TemplateStatement {
  enum class Kind : uint8_t {
    Text,      // text
    Print,     // exprs[0]
    If,        // exprs[i] guards bodies[i]; an additional body is the else
    For,       // names in exprs[0], if exprs[1] (may be null): bodies[0], else bodies[1]
    Set,       // names = exprs[0]; or names[0].names[1] of a namespace
    SetBlock,  // names[0] = the text of bodies[0]
    Macro,     // text(names, with exprs as defaults of the last ones): bodies[0]
    Block,     // bodies[0], unchanged
    Break,
    Continue
  };
  Kind kind;
  int line = 0;
  bool on_attribute = false;  // Set
  std::string text{};
  std::vector<std::string> names{};
  std::vector<TemplateExprPtr> exprs{};
  std::vector<TemplateBody> bodies{};
};

struct TemplateMacro {
  const TemplateStatement* statement;  // owned by the template, which outlives it
};

// UserError with the line for a syntax error or an unsupported feature.
TemplateBody parse_template(std::string_view source);

}  // namespace luminal::tokens
