// A contestant for protocol_test.py, which drives it beside the same one in Python
// (protocol_contestant.py): cases that answer, err, end and break the protocol.
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "apps/bench/harness/bench_main.h"
#include "apps/bench/harness/prepared.h"
#include "apps/bench/harness/ratio_json.h"

namespace luminal::bench {
namespace {

int n_prepared = 0;

// A run takes as long as the setting `step` says, without waiting for it.
class Counter : public Prepared {
 public:
  explicit Counter(double step) : step_(step) { ++n_prepared; }
  double run() override {
    ++runs_;
    return step_;
  }
  void add_facts(Json& answer) override {
    answer["runs"] = runs_;
    answer["prepared"] = n_prepared;
  }

 private:
  double step_;
  int runs_ = 0;
};

Json answer(const std::function<Json(const Command&)>& count, const Command& command) {
  if (command.of == "counts") return count(command);
  if (command.of == "errs") throw std::runtime_error("a planted error");
  if (command.of == "refuses") throw Refusal("unsupported", "a planted refusal");
  if (command.of == "ends") std::exit(3);
  if (command.of == "aborts") std::abort();
  if (command.of == "prints") std::cout << "rubbish" << std::endl;
  if (command.of == "statistics") {
    const std::vector<double> ratios = command.settings.at("samples");
    return {{"seconds", ratios}, {"of", ratio_json(ratios, command.settings.at("confidence"))}};
  }
  return Json::object();  // "forgets": an answer without seconds
}

}  // namespace
}  // namespace luminal::bench

int main(int argc, char** argv) {
  using namespace luminal::bench;
  const auto count = answer_by_runs([](const std::string&, const Json& settings) {
    return std::make_unique<Counter>(settings.at("step"));
  });
  return bench_main(
      {.name = "fake",
       .version = "1",
       .cases = {"counts", "errs", "refuses", "ends", "aborts", "prints", "forgets", "statistics"},
       .settings = {{"step", 0.25},
                    {"name", "none"},
                    {"flag", false},
                    {"samples", Json::array()},
                    {"confidence", 0.95}},
       .answer = [&](const Command& command) { return answer(count, command); }},
      argc, argv);
}
