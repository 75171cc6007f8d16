// ScheduleChoices: how a kernel runs where that is a choice: a flat list of knobs with values
// (knobs.def). An empty list is the backend's own default.
#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/text/line_reader.h"

namespace luminal::kernel {

enum class Knob : uint8_t {
#define KNOB(name, text, kind, least, most, effect) name,
#include "luminal/kernel/plan/knobs.def"
#undef KNOB
};

enum class KnobKind : uint8_t { Switch, Count };
enum class KnobEffect : uint8_t { Time, Sums };  // see knobs.def

struct KnobInfo {
  Knob knob;
  std::string_view text;
  KnobKind kind;
  int64_t least, most;
  KnobEffect effect;
};
std::span<const KnobInfo> knobs();
const KnobInfo& info(Knob knob);

class ScheduleChoices {
 public:
  struct Choice {
    Knob knob;
    int64_t value;
    auto operator<=>(const Choice&) const = default;
  };

  ScheduleChoices() = default;
  // Each as by set().
  ScheduleChoices(std::initializer_list<Choice> list);

  // UserError if the knob can't have the value.
  void set(Knob knob, int64_t value);
  std::optional<int64_t> find(Knob knob) const;
  int64_t get(Knob knob, int64_t own) const { return find(knob).value_or(own); }

  // Whether results keep their bits.
  bool changes_time_only() const;

  bool empty() const { return list_.empty(); }
  // In the order of knobs.def, each knob once.
  std::span<const Choice> list() const { return list_; }
  auto operator<=>(const ScheduleChoices&) const = default;

 private:
  std::vector<Choice> list_;
};

// "unroll 2, streams off"; "own" where nothing is chosen.
std::string text(const ScheduleChoices& choices);
// What text() prints. UserError for what isn't one.
ScheduleChoices parse_schedule(base::LineReader& line);

}  // namespace luminal::kernel
