#include "luminal/text/jinja/template_lexer.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/errors.h"
#include "luminal/text/unicode/unicode.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

using TokenKind = TemplateToken::Kind;

constexpr size_t kMaxSource = size_t{1} << 20;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class Lexer {
 public:
  explicit Lexer(std::string_view source) {
    if (source.size() > kMaxSource) fail("is larger than a megabyte");
    if (!is_utf8(source)) fail("isn't UTF-8");
    // Normalises line ends, and drops one at the very end.
    for (size_t i = 0; i < source.size(); ++i) {
      if (source[i] == '\r') {
        if (i + 1 < source.size() && source[i + 1] == '\n') continue;
        text_ += '\n';
      } else {
        text_ += source[i];
      }
    }
    if (text_.ends_with('\n')) text_.pop_back();
  }

  std::vector<TemplateToken> run() {
    while (at_ < text_.size()) {
      const size_t open = find_open(at_);
      print_text(open);
      if (at_ >= text_.size()) break;
      if (text_[at_ + 1] == '#') {
        comment();
      } else if (text_[at_ + 1] == '{') {
        code(TokenKind::PrintOpen, TokenKind::PrintClose, "}}");
      } else if (!raw_block()) {
        code(TokenKind::TagOpen, TokenKind::TagClose, "%}");
      }
    }
    add(TokenKind::End, "");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("chat template: line {}: {}", line_, what));
  }

  void add(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }

  void advance(size_t to) {
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    at_ = to;
  }

  size_t find_open(size_t from) const {
    for (size_t at = text_.find('{', from); at != text_.npos; at = text_.find('{', at + 1)) {
      if (at + 1 >= text_.size()) break;
      const char next = text_[at + 1];
      if (next == '{' || next == '%' || next == '#') return at;
    }
    return text_.size();
  }

  // Emits the text before the next opening delimiter, without the white space that it strips.
  void print_text(size_t open) {
    std::string_view text = std::string_view(text_).substr(at_, open - at_);
    const char sign = open + 2 < text_.size() ? text_[open + 2] : '\0';
    if (open < text_.size() && sign == '-') {
      text = stripped_end(text);
    } else if (open < text_.size() && sign != '+' && text_[open + 1] != '{') {
      const size_t line_start = text.rfind('\n') + 1;  // 0 if there is no line end
      const std::string_view before = text.substr(line_start);
      const bool blank = std::all_of(before.begin(), before.end(), is_space);
      if (blank && (line_start > 0 || line_starting_)) text = text.substr(0, line_start);
    }
    if (!text.empty()) add(TokenKind::Text, std::string(text));
    advance(open);
  }

  static std::string_view stripped_end(std::string_view text) {
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
  }

  // Strips white space after a closing delimiter: all after '-', a line end after a tag without
  // '+'.
  void after_close(char sign, bool is_tag) {
    size_t end = at_;
    if (sign == '-') {
      while (end < text_.size() && is_space(text_[end])) ++end;
    } else if (is_tag && sign != '+' && end < text_.size() && text_[end] == '\n') {
      ++end;
    }
    line_starting_ = end > 0 && text_[end - 1] == '\n';
    advance(end);
  }

  void comment() {
    const size_t close = text_.find("#}", at_ + 2);
    if (close == text_.npos) fail("a comment isn't closed");
    const char sign = text_[close - 1];
    advance(close + 2);
    after_close(close > 0 ? sign : '\0', true);
  }

  // {% raw %} … {% endraw %}
  bool raw_block() {
    size_t end = 0;
    char sign = '\0';
    if (!tag_is(at_, "raw", end, sign)) return false;
    advance(end);
    after_close(sign, true);
    for (size_t at = text_.find("{%", at_); at != text_.npos; at = text_.find("{%", at + 1)) {
      if (!tag_is(at, "endraw", end, sign)) continue;
      print_text(at);
      advance(end);
      after_close(sign, true);
      return true;
    }
    fail("'raw' isn't closed by 'endraw'");
  }

  // Whether a tag that consists of this word starts at `at`; sets its end and its closing sign.
  bool tag_is(size_t at, std::string_view word, size_t& end, char& sign) const {
    at += 2;
    if (at < text_.size() && (text_[at] == '-' || text_[at] == '+')) ++at;
    while (at < text_.size() && is_space(text_[at])) ++at;
    if (!std::string_view(text_).substr(at).starts_with(word)) return false;
    at += word.size();
    while (at < text_.size() && is_space(text_[at])) ++at;
    sign = '\0';
    if (at < text_.size() && (text_[at] == '-' || text_[at] == '+')) sign = text_[at++];
    end = at + 2;
    return std::string_view(text_).substr(at).starts_with("%}");
  }

  void code(TokenKind open, TokenKind close, std::string_view closing) {
    add(open, "");
    advance(at_ + 2);
    if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) advance(at_ + 1);
    std::vector<char> brackets;
    while (true) {
      while (at_ < text_.size() && is_space(text_[at_])) advance(at_ + 1);
      if (at_ >= text_.size()) fail(fmt::format("'{}' is missing", closing));
      const std::string_view rest = std::string_view(text_).substr(at_);
      const bool signed_close =
          (rest[0] == '-' || rest[0] == '+') && rest.substr(1).starts_with(closing);
      if (brackets.empty() && (signed_close || rest.starts_with(closing))) {
        add(close, "");
        advance(at_ + closing.size() + (signed_close ? 1 : 0));
        after_close(signed_close ? rest[0] : '\0', close == TokenKind::TagClose);
        return;
      }
      token(rest, brackets);
    }
  }

  void token(std::string_view rest, std::vector<char>& brackets) {
    const char c = rest[0];
    if (is_name_start(c)) {
      size_t n = 1;
      while (n < rest.size() && (is_name_start(rest[n]) || is_digit(rest[n]))) ++n;
      add(TokenKind::Name, std::string(rest.substr(0, n)));
      return advance(at_ + n);
    }
    if (is_digit(c)) return number(rest);
    if (c == '"' || c == '\'') return string(rest);
    for (std::string_view two : {"==", "!=", "<=", ">=", "//", "**"}) {
      if (!rest.starts_with(two)) continue;
      add(TokenKind::Operator, std::string(two));
      return advance(at_ + 2);
    }
    if (std::string_view("+-*/%~<>=()[]{}.,:|").find(c) == std::string_view::npos) {
      fail(fmt::format("unexpected '{}'", utf8(code_point_at(rest, 0).value)));
    }
    if (c == '(' || c == '[' || c == '{') brackets.push_back(c);
    if ((c == ')' || c == ']' || c == '}') && !brackets.empty()) brackets.pop_back();
    add(TokenKind::Operator, std::string(1, c));
    advance(at_ + 1);
  }

  void number(std::string_view rest) {
    size_t n = 0;
    while (n < rest.size() && is_digit(rest[n])) ++n;
    TokenKind kind = TokenKind::Integer;
    if (n + 1 < rest.size() && rest[n] == '.' && is_digit(rest[n + 1])) {
      kind = TokenKind::Float;
      ++n;
      while (n < rest.size() && is_digit(rest[n])) ++n;
    }
    if (n > 18) fail("a number has too many digits");
    add(kind, std::string(rest.substr(0, n)));
    advance(at_ + n);
  }

  void string(std::string_view rest) {
    std::string value;
    size_t i = 1;
    for (; i < rest.size() && rest[i] != rest[0]; ++i) {
      if (rest[i] != '\\') {
        value += rest[i];
        continue;
      }
      if (++i >= rest.size()) break;
      i += escape(rest.substr(i), value);
    }
    if (i >= rest.size()) fail("a string isn't closed");
    add(TokenKind::String, std::move(value));
    advance(at_ + i + 1);
  }

  // Called after a backslash: appends the escaped character and returns how many characters beyond
  // the first it took.
  size_t escape(std::string_view rest, std::string& value) const {
    constexpr std::string_view kFrom = "nrtbfv0a";
    constexpr std::string_view kTo("\n\r\t\b\f\v\0\a", 8);
    const size_t known = kFrom.find(rest[0]);
    if (known != kFrom.npos) {
      value += kTo[known];
      return 0;
    }
    const size_t digits = rest[0] == 'x' ? 2 : rest[0] == 'u' ? 4 : rest[0] == 'U' ? 8 : 0;
    if (digits == 0) {
      if (rest[0] == '\n') return 0;
      if (rest[0] != '\\' && rest[0] != '\'' && rest[0] != '"') value += '\\';
      value += rest[0];
      return 0;
    }
    char32_t c = 0;
    for (size_t i = 1; i <= digits; ++i) {
      const char digit = i < rest.size() ? rest[i] : '?';
      const char letter = static_cast<char>(digit | 0x20);
      if (!is_digit(digit) && (letter < 'a' || letter > 'f')) fail("a string has a bad escape");
      c = c * 16 + static_cast<char32_t>(is_digit(digit) ? digit - '0' : letter - 'a' + 10);
    }
    if (c >= kCodePoints || (c >= 0xD800 && c < 0xE000)) fail("a string has a bad escape");
    append_utf8(value, c);
    return digits;
  }

  std::string text_;
  size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;
  std::vector<TemplateToken> tokens_;
};

}  // namespace

std::vector<TemplateToken> template_tokens(std::string_view source) { return Lexer(source).run(); }

}  // namespace luminal::tokens
