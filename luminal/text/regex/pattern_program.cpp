#include "luminal/text/regex/pattern_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "luminal/base/errors.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

using StepKind = PatternStep::Kind;

constexpr size_t kMaxPatternSteps = 2000;
constexpr size_t kMaxText = 8192;
constexpr int kMaxPatternDepth = 32;
constexpr uint32_t kMaxRepeats = 200;
constexpr uint32_t kForever = 0xffffffffu;

// Emits steps while parsing: the code of a part is at the end, so it can be moved and repeated.
class Compiler {
 public:
  explicit Compiler(std::string_view pattern) : text_(pattern) {
    if (pattern.size() > kMaxText) fail(fmt::format("is longer than {} bytes", kMaxText));
    if (!is_utf8(pattern)) fail("isn't UTF-8");
  }

  PatternProgram compile() {
    alternatives(0);
    if (at_ < text_.size()) fail("has a ')' without its '('");
    emit({.kind = StepKind::Match});
    return std::move(program_);
  }

 private:
  using Code = std::vector<PatternStep>;

  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(
        fmt::format("tokenizer: the pattern {} at byte {}; it can't be used here", what, at_));
  }

  bool done() const { return at_ >= text_.size(); }
  char peek() const { return done() ? '\0' : text_[at_]; }
  bool accept(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  char32_t next() {
    if (done()) fail("ends too early");
    const CodePoint c = code_point_at(text_, at_);
    at_ += c.length;
    return c.value;
  }

  void emit(PatternStep step) {
    if (program_.steps.size() >= kMaxPatternSteps)
      fail(fmt::format("takes more than {} steps", kMaxPatternSteps));
    program_.steps.push_back(step);
  }
  uint32_t here() const { return static_cast<uint32_t>(program_.steps.size()); }

  uint32_t set_id(const CharSet& set) {
    auto found = std::find(program_.sets.begin(), program_.sets.end(), set);
    if (found == program_.sets.end()) found = program_.sets.insert(found, set);
    return static_cast<uint32_t>(found - program_.sets.begin());
  }

  // Removes the code from `start` on; its jumps become relative to its start.
  Code take_from(uint32_t start) {
    Code code(program_.steps.begin() + start, program_.steps.end());
    program_.steps.resize(start);
    for (PatternStep& step : code) {
      step.first -= start;
      step.second -= start;
    }
    return code;
  }
  void put(const Code& code) {
    const uint32_t start = here();
    for (PatternStep step : code) {
      step.first += start;
      step.second += start;
      emit(step);
    }
  }

  void alternatives(int depth) {
    if (depth > kMaxPatternDepth) fail(fmt::format("is nested deeper than {}", kMaxPatternDepth));
    const uint32_t start = here();
    std::vector<Code> options;
    do {
      sequence(depth);
      options.push_back(take_from(start));
    } while (accept("|"));
    std::vector<uint32_t> exits;
    for (size_t i = 0; i < options.size(); ++i) {
      const bool last = i + 1 == options.size();
      const uint32_t split = here();
      if (!last) emit({.kind = StepKind::Split, .first = split + 1});
      put(options[i]);
      if (last) break;
      exits.push_back(here());
      emit({.kind = StepKind::Jump});
      program_.steps[split].second = here();
    }
    for (uint32_t exit : exits) program_.steps[exit].first = here();
  }

  void sequence(int depth) {
    while (!done() && peek() != '|' && peek() != ')') {
      const uint32_t start = here();
      if (atom(depth)) repeats(start);
    }
  }

  // Parses one atom; returns false for one that can't be repeated.
  bool atom(int depth) {
    if (accept("(?!")) return look_ahead(StepKind::NotAhead, depth);
    if (accept("(?=")) return look_ahead(StepKind::Ahead, depth);
    if (accept("(?i:")) return group(true, depth);
    if (accept("(?:")) return group(ignore_case_, depth);
    if (text_.substr(at_).starts_with("(?")) fail("has an unsupported kind of group");
    if (accept("(")) return group(ignore_case_, depth);
    if (accept("$") || accept("\\z")) {
      emit({.kind = StepKind::AtEnd});
      return false;
    }
    for (char symbol : {'*', '+', '?', '{', '^'}) {
      if (peek() == symbol) fail(fmt::format("has a '{}' where nothing can be repeated", symbol));
    }
    take(one_character(depth));
    return true;
  }

  void take(CharSet set) {
    if (ignore_case_) set = set.any_case();
    emit({.kind = StepKind::Take, .set = set_id(set)});
  }

  bool group(bool ignore_case, int depth) {
    const bool outer = std::exchange(ignore_case_, ignore_case);
    alternatives(depth + 1);
    ignore_case_ = outer;
    if (!accept(")")) fail("has a '(' without its ')'");
    return true;
  }

  bool look_ahead(StepKind kind, int depth) {
    const CharSet set = one_character(depth);
    if (!accept(")")) fail("looks ahead at more than one character");
    emit({.kind = kind, .set = set_id(set)});
    return false;
  }

  CharSet one_character(int depth) {
    if (accept(".")) return CharSet::of('\n', '\n').inverted();
    if (accept("[")) return char_class(depth + 1);
    if (accept("\\")) return escape();
    const char32_t c = next();
    return CharSet::of(c, c);
  }

  void repeats(uint32_t start) {
    uint32_t low = 1;
    uint32_t high = 1;
    if (accept("*")) {
      low = 0;
      high = kForever;
    } else if (accept("+")) {
      high = kForever;
    } else if (accept("?")) {
      low = 0;
    } else if (accept("{")) {
      bounds(low, high);
    } else {
      return;
    }
    const bool lazy = accept("?");
    if (peek() == '+') fail("has a possessive quantifier");
    if (peek() == '*' || peek() == '?' || peek() == '{')
      fail("has a quantifier after a quantifier");
    repeat(take_from(start), low, high, lazy);
  }

  void bounds(uint32_t& low, uint32_t& high) {
    const bool has_low = peek() != ',';
    low = has_low ? number() : 0;
    high = low;
    if (accept(",")) {
      high = kForever;
      if (peek() != '}') high = number();
    }
    if (!accept("}")) fail("has a '{' without its '}'");
    if (high < low) fail("has a quantifier whose maximum is below its minimum");
  }

  uint32_t number() {
    uint32_t value = 0;
    if (peek() < '0' || peek() > '9') fail("has a quantifier without its number");
    while (peek() >= '0' && peek() <= '9') {
      value = value * 10 + static_cast<uint32_t>(peek() - '0');
      if (value > kMaxRepeats) fail(fmt::format("repeats more than {} times", kMaxRepeats));
      ++at_;
    }
    return value;
  }

  void repeat(const Code& code, uint32_t low, uint32_t high, bool lazy) {
    const auto choose = [&](uint32_t at, uint32_t into, uint32_t past) {
      program_.steps[at].first = lazy ? past : into;
      program_.steps[at].second = lazy ? into : past;
    };
    for (uint32_t i = 0; i < low; ++i) put(code);
    if (high == kForever) {
      const uint32_t split = here();
      emit({.kind = StepKind::Split});
      put(code);
      emit({.kind = StepKind::Jump, .first = split});
      choose(split, split + 1, here());
      return;
    }
    std::vector<uint32_t> splits;
    for (uint32_t i = low; i < high; ++i) {
      splits.push_back(here());
      emit({.kind = StepKind::Split});
      put(code);
    }
    for (uint32_t split : splits) choose(split, split + 1, here());
  }

  uint32_t hex(int digits) {
    uint32_t value = 0;
    for (int i = 0; i < digits; ++i) {
      const char c = peek();
      const bool digit = c >= '0' && c <= '9';
      const char letter = static_cast<char>(c | 0x20);
      if (!digit && (letter < 'a' || letter > 'f')) fail("has a bad hexadecimal number");
      value = value * 16 + static_cast<uint32_t>(digit ? c - '0' : letter - 'a' + 10);
      ++at_;
    }
    return value;
  }

  CharSet property(bool inverted) {
    if (!accept("{")) fail("has a \\p without its '{'");
    if (accept("^")) inverted = !inverted;
    const size_t end = text_.find('}', at_);
    if (end == text_.npos || end - at_ > 32) fail("has a \\p without its '}'");
    const std::string_view wanted = text_.substr(at_, end - at_);
    const CharSet set = CharSet::property(wanted);
    if (set.empty()) fail(fmt::format("has the property '{}', which isn't known,", wanted));
    at_ = end + 1;
    return inverted ? set.inverted() : set;
  }

  CharSet escape() {
    const char32_t c = next();
    const auto one = [](char32_t value) { return CharSet::of(value, value); };
    switch (c) {
      case 'p':
        return property(false);
      case 'P':
        return property(true);
      case 's':
        return CharSet::white_space();
      case 'S':
        return CharSet::white_space().inverted();
      case 'd':
        return CharSet::property("Nd");
      case 'D':
        return CharSet::property("Nd").inverted();
      case 'w':
        return CharSet::word();
      case 'W':
        return CharSet::word().inverted();
      case 'n':
        return one('\n');
      case 'r':
        return one('\r');
      case 't':
        return one('\t');
      case 'f':
        return one('\f');
      case 'v':
        return one('\v');
      case 'u':
        return one(hex(4));
      case 'x':
        return one(accept("{") ? braced_hex() : hex(2));
      default:
        break;
    }
    const bool alphanumeric = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    if (alphanumeric && c < 0x80) fail(fmt::format("has the escape '\\{}'", utf8(c)));
    return one(c);
  }

  uint32_t braced_hex() {
    uint32_t value = 0;
    while (!accept("}")) {
      value = value * 16 + hex(1);
      if (value >= kCodePoints) fail("has a character past U+10FFFF");
    }
    return value;
  }

  // Called after the '['; consumes the ']'.
  CharSet char_class(int depth) {
    if (depth > kMaxPatternDepth) fail(fmt::format("is nested deeper than {}", kMaxPatternDepth));
    const bool inverted = accept("^");
    if (text_.substr(at_).starts_with("[:")) fail("has a POSIX class");
    std::optional<CharSet> before_and;
    CharSet set;
    bool first = true;
    while (first || peek() != ']') {
      if (done()) fail("has a '[' without its ']'");
      if (accept("&&")) {
        before_and = before_and ? before_and->both(set) : set;
        set = {};
      } else if (accept("[")) {
        set.add(char_class(depth + 1));
      } else {
        class_item(set);
      }
      first = false;
    }
    ++at_;
    if (before_and) set = before_and->both(set);
    return inverted ? set.inverted() : set;
  }

  void class_item(CharSet& set) {
    const CharSet low = accept("\\") ? escape() : single(next());
    const bool is_range = peek() == '-' && at_ + 1 < text_.size() && text_[at_ + 1] != ']';
    if (!is_range) {
      set.add(low);
      return;
    }
    const bool one = low.ranges().size() == 1 && low.ranges()[0].first == low.ranges()[0].last;
    if (!one) fail("has a range that starts with a class");
    ++at_;
    const CharSet high = accept("\\") ? escape() : single(next());
    if (high.ranges().size() != 1 || high.ranges()[0].first != high.ranges()[0].last) {
      fail("has a range that ends with a class");
    }
    if (high.ranges()[0].first < low.ranges()[0].first)
      fail("has a range that ends before it begins");
    set.add(low.ranges()[0].first, high.ranges()[0].first);
  }

  static CharSet single(char32_t c) { return CharSet::of(c, c); }

  std::string_view text_;
  size_t at_ = 0;
  bool ignore_case_ = false;
  PatternProgram program_;
};

}  // namespace

PatternProgram compile_pattern(std::string_view pattern) { return Compiler(pattern).compile(); }

}  // namespace luminal::tokens
