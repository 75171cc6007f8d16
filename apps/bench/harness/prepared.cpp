#include "apps/bench/harness/prepared.h"

#include <utility>

namespace luminal::bench {
namespace {

// The last case, which the next command is likely to ask for again.
struct Last {
  std::string of;
  Json settings;
  std::unique_ptr<Prepared> prepared;
};

std::vector<double> seconds_of_runs(Prepared& prepared, const Command& command) {
  std::vector<double> seconds;
  if (command.seconds > 0) {
    double total = 0;
    while (total < command.seconds) total += seconds.emplace_back(prepared.run());
    return seconds;
  }
  for (int64_t i = 0; i < command.times; ++i) seconds.push_back(prepared.run());
  return seconds;
}

}  // namespace

void Prepared::write_result(const std::string& /*path*/) {
  throw Refusal("unsupported", "this case has no result to write");
}

std::function<Json(const Command&)> answer_by_runs(Prepare prepare) {
  auto last = std::make_shared<Last>();
  return [last, prepare = std::move(prepare)](const Command& command) {
    if (!last->prepared || last->of != command.of || last->settings != command.settings) {
      last->prepared.reset();  // before the next one takes memory
      last->prepared = prepare(command.of, command.settings);
      last->of = command.of;
      last->settings = command.settings;
    }
    Json answer = {{"seconds", seconds_of_runs(*last->prepared, command)}};
    last->prepared->add_facts(answer);
    if (!command.write.empty()) last->prepared->write_result(command.write);
    return answer;
  };
}

}  // namespace luminal::bench
