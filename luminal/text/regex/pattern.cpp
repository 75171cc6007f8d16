#include "luminal/text/regex/pattern.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>

#include "luminal/base/errors.h"
#include "luminal/text/regex/pattern_program.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

constexpr uint16_t kDead = 0;
constexpr size_t kMaxStates = 4096;
constexpr size_t kMaxClasses = 200;
constexpr size_t kMaxWork = 4'000'000;  // visited steps; patterns in use take under 100,000

[[noreturn]] void too_large() {
  throw UserError("tokenizer: the pattern needs an automaton that is too large; simplify it");
}

}  // namespace

// DFA construction. A state is the list of steps that wait for the next character, in order of
// preference. A match is known one character late, because look-ahead needs the next character.
struct Pattern::Builder {
  explicit Builder(Pattern& to, PatternProgram from) : pattern(to), program(std::move(from)) {}

  void build() {
    find_classes();
    add_state({});  // kDead
    add_state({0});
    for (size_t state = 0; state < states.size(); ++state) add_moves(state);
    for (size_t k = 0; k < pattern.n_classes_; ++k) {
      if (pattern.moves_[pattern.n_classes_ + k].matches) {
        throw UserError("tokenizer: the pattern matches the empty text; it can't split anything");
      }
    }
  }

  // Code points that no set distinguishes form one class.
  void find_classes() {
    std::vector<uint8_t> classes(kCodePoints, 0);
    members.assign(1, {});
    for (const CharSet& set : program.sets) {
      // From a class to its part inside the set. A table, because it is read for every code point.
      std::array<std::optional<uint8_t>, 256> inside;
      for (const CharSet::Range& range : set.ranges()) {
        for (char32_t c = range.first; c <= range.last; ++c) {
          std::optional<uint8_t>& of = inside[classes[c]];
          if (!of) {
            if (members.size() > kMaxClasses) too_large();
            of = static_cast<uint8_t>(members.size());
            members.push_back(members[classes[c]]);
          }
          classes[c] = *of;
        }
      }
      const size_t id = static_cast<size_t>(&set - program.sets.data());
      for (auto& in_sets : members) in_sets.resize(id + 1, false);
      for (std::optional<uint8_t> of : inside) {
        if (of) members[*of][id] = true;
      }
    }
    pattern.n_classes_ = static_cast<uint32_t>(members.size()) + 1;
    members.push_back(std::vector<bool>(program.sets.size(), false));  // the end of the text
    store_pages(classes);
  }

  void store_pages(const std::vector<uint8_t>& classes) {
    std::map<std::string, uint16_t> known;
    for (char32_t c = 0; c < kCodePoints; c += 256) {
      const std::string page(classes.begin() + c, classes.begin() + c + 256);
      auto [found, is_new] = known.try_emplace(page, static_cast<uint16_t>(known.size()));
      if (is_new) pattern.pages_.insert(pattern.pages_.end(), page.begin(), page.end());
      pattern.page_of_.push_back(found->second);
    }
  }

  uint16_t add_state(const std::vector<uint32_t>& steps) {
    auto [found, is_new] = known_states.try_emplace(steps, static_cast<uint16_t>(states.size()));
    if (is_new) {
      if (states.size() >= kMaxStates) too_large();
      states.push_back(steps);
    }
    return found->second;
  }

  void add_moves(size_t state) {
    for (uint32_t k = 0; k < pattern.n_classes_; ++k) {
      const std::vector<uint32_t> steps = states[state];
      next.clear();
      seen.assign(program.steps.size(), false);
      matched = false;
      for (uint32_t step : steps) {
        if (matched) break;
        follow(step, k);
      }
      const bool at_end = k + 1 == pattern.n_classes_;
      const uint16_t to = at_end || next.empty() ? kDead : add_state(next);
      pattern.moves_.push_back({to, matched});
    }
  }

  // Adds what a step leads to if the next character is of class `k`; alternatives less preferred
  // than a match are dropped.
  void follow(uint32_t start, uint32_t k) {
    std::vector<uint32_t> stack{start};
    while (!stack.empty() && !matched) {
      const uint32_t at = stack.back();
      stack.pop_back();
      if (seen[at]) continue;
      seen[at] = true;
      if (++work > kMaxWork) too_large();
      const PatternStep& step = program.steps[at];
      const bool at_end = k + 1 == pattern.n_classes_;
      switch (step.kind) {
        case PatternStep::Kind::Take:
          if (!at_end && members[k][step.set] &&
              std::find(next.begin(), next.end(), at + 1) == next.end()) {
            next.push_back(at + 1);
          }
          break;
        case PatternStep::Kind::Split:
          stack.push_back(step.second);
          stack.push_back(step.first);
          break;
        case PatternStep::Kind::Jump:
          stack.push_back(step.first);
          break;
        case PatternStep::Kind::Ahead:
          if (members[k][step.set]) stack.push_back(at + 1);
          break;
        case PatternStep::Kind::NotAhead:
          if (!members[k][step.set]) stack.push_back(at + 1);
          break;
        case PatternStep::Kind::AtEnd:
          if (at_end) stack.push_back(at + 1);
          break;
        case PatternStep::Kind::Match:
          matched = true;
          break;
      }
    }
  }

  Pattern& pattern;
  PatternProgram program;
  std::vector<std::vector<bool>> members;  // by class: the sets that contain it
  std::vector<std::vector<uint32_t>> states;
  std::map<std::vector<uint32_t>, uint16_t> known_states;
  std::vector<uint32_t> next;
  std::vector<bool> seen;
  bool matched = false;
  size_t work = 0;
};

Pattern::Pattern(std::string_view expression) {
  Builder(*this, compile_pattern(expression)).build();
}

// Runs all attempts in parallel, one per possible start. Two attempts in the same state continue
// equally, so only the earlier one is kept: there are never more attempts than states.
struct Pattern::Search {
  struct Attempt {
    uint32_t state;
    size_t begin;
    std::optional<size_t> end;  // of the match so far
  };

  Search(const Pattern& of, std::string_view in) : pattern(of), text(in) {
    seen.assign(of.moves_.size() / of.n_classes_, 0);
  }

  std::optional<Match> run(size_t at) {
    for (uint32_t round = 1;; ++round) {
      // Starts after that of a match are irrelevant.
      const bool may_begin = at < text.size() && !best && (going.empty() || !going.back().end);
      if (may_begin) going.push_back({1, at, std::nullopt});
      if (going.empty()) return best;
      const Next next = pattern.next_at(text, at);
      step(at, next.of, round);
      at += next.length;
    }
  }

  // The attempts are sorted by start, and stay sorted.
  void step(size_t at, uint32_t of, uint32_t round) {
    std::swap(went, going);
    going.clear();
    for (Attempt& attempt : went) {
      if (best && best->begin < attempt.begin) break;
      const Move move = pattern.moves_[attempt.state * pattern.n_classes_ + of];
      if (move.matches) attempt.end = at;
      const bool ends = move.state == kDead || seen[move.state] == round;
      if (ends) {
        if (attempt.end) best = Match{attempt.begin, *attempt.end};
        continue;
      }
      seen[move.state] = round;
      attempt.state = move.state;
      going.push_back(attempt);
      if (attempt.end) break;
    }
  }

  const Pattern& pattern;
  std::string_view text;
  std::vector<Attempt> going, went;
  std::vector<uint32_t> seen;  // by state: the last round that reached it
  std::optional<Match> best;
};

Pattern::Next Pattern::next_at(std::string_view text, size_t at) const {
  if (at >= text.size()) return {n_classes_ - 1, 0};
  const unsigned byte = static_cast<unsigned char>(text[at]);
  const CodePoint c = byte < 0x80 ? CodePoint{byte, 1, true} : code_point_at(text, at);
  return {class_of(c.value), c.length};
}

std::optional<size_t> Pattern::match_at(std::string_view text, size_t begin, size_t& looked) const {
  std::optional<size_t> end;
  uint32_t state = 1;
  size_t at = begin;
  while (state != kDead) {
    const Next next = next_at(text, at);
    const Move move = moves_[state * n_classes_ + next.of];
    if (move.matches) end = at;
    state = move.state;
    at += next.length;
  }
  looked = at - begin;
  return end;
}

std::optional<size_t> Pattern::match_at(std::string_view text, size_t begin) const {
  size_t looked = 0;
  return match_at(text, begin, looked);
}

std::optional<Pattern::Match> Pattern::find(std::string_view text, size_t from) const {
  constexpr size_t kLong = 64;  // attempts that fail sooner are faster one by one
  while (from < text.size()) {
    size_t looked = 0;
    if (auto end = match_at(text, from, looked)) return Match{from, *end};
    from += code_point_at(text, from).length;
    if (looked > kLong) return Search(*this, text).run(from);
  }
  return std::nullopt;
}

}  // namespace luminal::tokens
