// S-expressions with positions: the syntax of the e-graph language and of other text forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::base {

// A position in a text; both count from 1, columns in bytes.
struct SourcePosition {
  uint32_t line = 1;
  uint32_t column = 1;
};

// An atom (`x`, `12`, `+`), a string (`"a b"`), or a list of these (`(f x "s")`).
struct Sexpr {
  enum class Kind : uint8_t { Atom, String, List };

  Kind kind = Kind::List;
  SourcePosition position;
  std::string text;          // of an atom or, without quotes and escapes, of a string
  std::vector<Sexpr> items;  // of a list

  bool is_atom() const { return kind == Kind::Atom; }
  bool is_atom(std::string_view expected) const { return is_atom() && text == expected; }
  bool is_string() const { return kind == Kind::String; }
  bool is_list() const { return kind == Kind::List; }
  // Whether it is a list that starts with this atom.
  bool is_call(std::string_view head) const {
    return is_list() && !items.empty() && items.front().is_atom(head);
  }
};

Sexpr make_atom(std::string text);
Sexpr make_string(std::string text);
Sexpr make_list(std::vector<Sexpr> items);

// Structural equality; positions are ignored.
bool same(const Sexpr& a, const Sexpr& b);

struct SexprLimits {
  size_t depth = 1000;  // nesting of lists; deeper texts are an error, not a stack overflow
};

// All expressions of a text; `;` starts a comment that ends with its line. Strings know \n \t \r
// \\ \" and \xHH. UserError as "name:line:column: what is wrong".
std::vector<Sexpr> read_sexprs(std::string_view text, std::string_view name,
                               const SexprLimits& limits = {});

// On one line; reading it back gives the same tree.
std::string print(const Sexpr& sexpr);

// Over several lines where one would be longer than `width`: the items of a long list go below
// their head, indented by two.
std::string print_indented(const Sexpr& sexpr, size_t width = 100);

// A UserError that says where: "name:line:column: message".
[[noreturn]] void fail_at(std::string_view name, SourcePosition position,
                          const std::string& message);

}  // namespace luminal::base
