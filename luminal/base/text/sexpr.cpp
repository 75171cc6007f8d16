#include "luminal/base/text/sexpr.h"

#include "luminal/base/errors.h"

#include <algorithm>
#include <utility>

namespace luminal::base {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool ends_atom(char c) { return is_space(c) || c == '(' || c == ')' || c == '"' || c == ';'; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view name, const SexprLimits& limits)
      : text_(text), name_(name), limits_(limits) {}

  // Keeps the open lists on a stack of its own, so that depth costs no call stack.
  std::vector<Sexpr> read() {
    std::vector<Sexpr> open(1);  // the outermost list stands for the whole text
    for (skip_blanks(); at_ < text_.size(); skip_blanks()) {
      const char c = text_[at_];
      const SourcePosition start = position_;
      if (c == '(') {
        if (open.size() > limits_.depth) {
          fail_at(name_, start,
                  "lists are nested deeper than " + std::to_string(limits_.depth) + " levels");
        }
        advance();
        open.push_back({.kind = Sexpr::Kind::List, .position = start, .text = {}, .items = {}});
      } else if (c == ')') {
        if (open.size() == 1) fail_at(name_, start, "')' without a '(' before it");
        advance();
        Sexpr closed = std::move(open.back());
        open.pop_back();
        open.back().items.push_back(std::move(closed));
      } else if (c == '"') {
        open.back().items.push_back(read_string());
      } else {
        open.back().items.push_back(read_atom());
      }
    }
    if (open.size() > 1) {
      fail_at(name_, open.back().position, "'(' is never closed; the text ends first");
    }
    return std::move(open.front().items);
  }

 private:
  void advance() {
    if (text_[at_] == '\n') {
      ++position_.line;
      position_.column = 1;
    } else {
      ++position_.column;
    }
    ++at_;
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (is_space(text_[at_])) {
        advance();
      } else if (text_[at_] == ';') {
        while (at_ < text_.size() && text_[at_] != '\n') advance();
      } else {
        return;
      }
    }
  }

  Sexpr read_atom() {
    Sexpr atom = make_atom({});
    atom.position = position_;
    const size_t start = at_;
    while (at_ < text_.size() && !ends_atom(text_[at_])) {
      const unsigned char c = static_cast<unsigned char>(text_[at_]);
      if (c < 0x20 || c == 0x7f) {
        fail_at(name_, position_, "control character " + std::to_string(c) + " outside a string");
      }
      advance();
    }
    atom.text = text_.substr(start, at_ - start);
    return atom;
  }

  Sexpr read_string() {
    Sexpr string = make_string({});
    string.position = position_;
    advance();
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\') {
        string.text += read_escape();
      } else {
        string.text += text_[at_];
        advance();
      }
    }
    if (at_ == text_.size()) {
      fail_at(name_, string.position, "the string is never closed; the text ends first");
    }
    advance();
    return string;
  }

  char read_escape() {
    const SourcePosition start = position_;
    advance();
    if (at_ == text_.size()) fail_at(name_, start, "the text ends after '\\'");
    const char c = text_[at_];
    advance();
    if (c == 'n') return '\n';
    if (c == 't') return '\t';
    if (c == 'r') return '\r';
    if (c == '\\' || c == '"') return c;
    if (c == 'x') return read_hex_byte(start);
    fail_at(name_, start, "unknown escape; strings know \\n \\t \\r \\\\ \\\" and \\xHH");
  }

  char read_hex_byte(SourcePosition start) {
    int value = 0;
    for (int i = 0; i < 2; ++i) {
      const int digit = at_ < text_.size() ? hex_digit(text_[at_]) : -1;
      if (digit < 0) fail_at(name_, start, "\\x needs two hexadecimal digits");
      value = value * 16 + digit;
      advance();
    }
    return static_cast<char>(value);
  }

  std::string_view text_;
  std::string_view name_;
  SexprLimits limits_;
  size_t at_ = 0;
  SourcePosition position_;
};

void print_string(const std::string& text, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += '"';
  for (char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\\' || c == '"') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

void print_line(const Sexpr& sexpr, std::string& out) {
  switch (sexpr.kind) {
    case Sexpr::Kind::Atom:
      out += sexpr.text;
      return;
    case Sexpr::Kind::String:
      print_string(sexpr.text, out);
      return;
    case Sexpr::Kind::List:
      out += '(';
      for (size_t i = 0; i < sexpr.items.size(); ++i) {
        if (i > 0) out += ' ';
        print_line(sexpr.items[i], out);
      }
      out += ')';
      return;
  }
}

// Whether the expression fits in `room` columns on one line; stops counting once it doesn't, so
// that laying out a deep tree stays cheap. `room` is reduced by the columns taken.
bool fits(const Sexpr& sexpr, size_t& room) {
  auto take = [&room](size_t columns) {
    if (columns > room) return false;
    room -= columns;
    return true;
  };
  if (sexpr.is_atom()) return take(sexpr.text.size());
  if (sexpr.is_string()) {
    std::string printed;
    print_string(sexpr.text, printed);
    return take(printed.size());
  }
  if (!take(2 + (sexpr.items.empty() ? 0 : sexpr.items.size() - 1))) return false;
  return std::all_of(sexpr.items.begin(), sexpr.items.end(),
                     [&room](const Sexpr& item) { return fits(item, room); });
}

// `closing` counts the brackets that will follow on the last line.
void print_block(const Sexpr& sexpr, size_t indent, size_t closing, size_t width,
                 std::string& out) {
  size_t room = width > indent + closing ? width - indent - closing : 0;
  if (!sexpr.is_list() || sexpr.items.empty() || fits(sexpr, room)) {
    print_line(sexpr, out);
    return;
  }
  out += '(';
  const bool head_inline = !sexpr.items.front().is_list();
  for (size_t i = 0; i < sexpr.items.size(); ++i) {
    const bool last = i + 1 == sexpr.items.size();
    const size_t item_indent = i == 0 || !head_inline ? indent + 1 : indent + 2;
    if (i > 0) out += '\n' + std::string(item_indent, ' ');
    print_block(sexpr.items[i], item_indent, last ? closing + 1 : 0, width, out);
  }
  out += ')';
}

}  // namespace

Sexpr make_atom(std::string text) {
  return {.kind = Sexpr::Kind::Atom, .position = {}, .text = std::move(text), .items = {}};
}

Sexpr make_string(std::string text) {
  return {.kind = Sexpr::Kind::String, .position = {}, .text = std::move(text), .items = {}};
}

Sexpr make_list(std::vector<Sexpr> items) {
  return {.kind = Sexpr::Kind::List, .position = {}, .text = {}, .items = std::move(items)};
}

bool same(const Sexpr& a, const Sexpr& b) {
  return a.kind == b.kind && a.text == b.text &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same);
}

std::vector<Sexpr> read_sexprs(std::string_view text, std::string_view name,
                               const SexprLimits& limits) {
  return Reader(text, name, limits).read();
}

std::string print(const Sexpr& sexpr) {
  std::string out;
  print_line(sexpr, out);
  return out;
}

std::string print_indented(const Sexpr& sexpr, size_t width) {
  std::string out;
  print_block(sexpr, 0, 0, width, out);
  return out;
}

void fail_at(std::string_view name, SourcePosition position, const std::string& message) {
  throw UserError(std::string(name) + ":" + std::to_string(position.line) + ":" +
                  std::to_string(position.column) + ": " + message);
}

}  // namespace luminal::base
