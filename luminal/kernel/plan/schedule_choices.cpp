#include "luminal/kernel/plan/schedule_choices.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/errors.h"

namespace luminal::kernel {
namespace {

constexpr KnobInfo kKnobs[] = {
#define KNOB(name, text, kind, least, most, effect) \
  {Knob::name, text, KnobKind::kind, least, most, KnobEffect::effect},
#include "luminal/kernel/plan/knobs.def"
#undef KNOB
};

std::string names() {
  std::string all;
  for (const KnobInfo& knob : kKnobs)
    all += fmt::format("{}{}", all.empty() ? "" : ", ", knob.text);
  return all;
}

int64_t parse_value(base::LineReader& line, const KnobInfo& knob) {
  if (knob.kind == KnobKind::Count) return line.integer();
  if (line.take("on")) return 1;
  line.expect("off");
  return 0;
}

std::string value_text(const KnobInfo& knob, int64_t value) {
  if (knob.kind == KnobKind::Count) return std::to_string(value);
  return value != 0 ? "on" : "off";
}

}  // namespace

std::span<const KnobInfo> knobs() { return kKnobs; }

const KnobInfo& info(Knob knob) { return kKnobs[static_cast<size_t>(knob)]; }

ScheduleChoices::ScheduleChoices(std::initializer_list<Choice> list) {
  for (const Choice& choice : list) set(choice.knob, choice.value);
}

void ScheduleChoices::set(Knob knob, int64_t value) {
  const KnobInfo& known = info(knob);
  if (value < known.least || value > known.most) {
    throw UserError(fmt::format("schedule: {} must be from {} to {}, not {}", known.text,
                                known.least, known.most, value));
  }
  const auto at = std::ranges::lower_bound(list_, knob, {}, &Choice::knob);
  if (at != list_.end() && at->knob == knob) {
    at->value = value;
  } else {
    list_.insert(at, {knob, value});
  }
}

std::optional<int64_t> ScheduleChoices::find(Knob knob) const {
  const auto at = std::ranges::find(list_, knob, &Choice::knob);
  return at == list_.end() ? std::nullopt : std::optional(at->value);
}

bool ScheduleChoices::changes_time_only() const {
  return std::ranges::all_of(
      list_, [](const Choice& choice) { return info(choice.knob).effect == KnobEffect::Time; });
}

std::string text(const ScheduleChoices& choices) {
  std::string out;
  for (const auto& [knob, value] : choices.list()) {
    const KnobInfo& known = info(knob);
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", known.text, value_text(known, value));
  }
  return out.empty() ? "own" : out;
}

ScheduleChoices parse_schedule(base::LineReader& line) {
  ScheduleChoices choices;
  if (line.take("own")) return choices;
  do {
    const std::string_view word = line.word();
    const auto* knob = std::ranges::find(kKnobs, word, &KnobInfo::text);
    if (knob == std::end(kKnobs)) {
      line.fail(fmt::format("'{}' is not a schedule setting: {}", word, names()));
    }
    try {
      choices.set(knob->knob, parse_value(line, *knob));
    } catch (const UserError& error) {
      line.fail_with(error);
    }
  } while (line.take(","));
  return choices;
}

}  // namespace luminal::kernel
