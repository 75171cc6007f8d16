#include "tests/foreign/shrink.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/foreign/judge.h"
#include "tests/foreign/oracle.h"

namespace luminal::tests::foreign {
namespace {

// Steps that nothing needs leave the text; the oracle may still read them.
void drop_dead(Program& program) {
  std::vector<bool> needed(program.steps.size());
  for (int x : program.outputs) needed[static_cast<size_t>(x)] = true;
  for (const auto& [state, value] : program.updates) {
    needed[static_cast<size_t>(state)] = needed[static_cast<size_t>(value)] = true;
  }
  for (size_t k = program.steps.size(); k-- > 0;) {
    Step& step = program.steps[k];
    if (!needed[k]) {
      step.shadow = true;
      continue;
    }
    for (int x : step.inputs) needed[static_cast<size_t>(x)] = true;
  }
}

// Step k as an input that holds what the oracle says of it.
Program cut(const Program& program, size_t k) {
  Program made = program;
  Step& step = made.steps[k];
  const Expected expected = expected_of(program);
  const std::string name = fmt::format("cut{}", k);
  for (size_t r = 0; r < made.runs.size(); ++r) {
    made.runs[r].leaves[name] = encoded(expected[r][k]);
  }
  step = {.op = Op::Input, .dtype = step.dtype, .shape = step.shape, .name = name};
  made.leaves[static_cast<int>(k)] = {};
  drop_dead(made);
  return made;
}

class Shrinker {
 public:
  Shrinker(Program program, const std::function<bool(const Program&)>& fails, int most_tries)
      : best_(std::move(program)), fails_(fails), tries_(most_tries) {}

  Program run() {
    plainer_settings();
    one_output();
    one_run();
    while (one_cut()) {
    }
    return std::move(best_);
  }

 private:
  bool take(Program made) {
    if (tries_-- <= 0) return false;
    drop_dead(made);
    if (!fails_(made)) return false;
    best_ = std::move(made);
    return true;
  }

  void plainer_settings() {
    Program made = best_;
    made.threads = 1;
    made.rolling = Rolling::Off;
    if (take(std::move(made))) return;
    made = best_;
    made.rolling = Rolling::Off;
    take(std::move(made));
  }

  void one_output() {
    Program made = best_;
    made.updates.clear();
    const bool has_states = !best_.updates.empty();
    if (has_states && best_.runs.size() == 1) take(std::move(made));
    for (int x : std::vector<int>(best_.outputs)) {
      made = best_;
      made.outputs = {x};
      if (take(std::move(made))) return;
    }
  }

  // States carry values from run to run: without them a run stands alone.
  void one_run() {
    if (!best_.updates.empty()) return;
    for (size_t r = 0; r < best_.runs.size() && best_.runs.size() > 1; ++r) {
      Program made = best_;
      made.runs = {best_.runs[r]};
      if (take(std::move(made))) return;
    }
  }

  bool one_cut() {
    for (size_t k = best_.steps.size(); k-- > 0;) {
      const Step& step = best_.steps[k];
      const bool output = std::find(best_.outputs.begin(), best_.outputs.end(),
                                    static_cast<int>(k)) != best_.outputs.end();
      if (step.shadow || output || step.inputs.empty() || step.dtype == DType::U4) continue;
      if (tries_ <= 0) return false;
      if (take(cut(best_, k))) return true;
    }
    return false;
  }

  Program best_;
  const std::function<bool(const Program&)>& fails_;
  int tries_;
};

}  // namespace

Program shrink(const Program& program, const std::function<bool(const Program&)>& fails,
               int most_tries) {
  return Shrinker(program, fails, most_tries).run();
}

}  // namespace luminal::tests::foreign
