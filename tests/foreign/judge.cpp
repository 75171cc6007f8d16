#include "tests/foreign/judge.h"

#include <fmt/format.h>

#include <sstream>

#include "luminal/base/errors.h"
#include "luminal/driver/compile.h"
#include "luminal/graph/text_form.h"
#include "luminal/graph/verify.h"

namespace luminal::tests::foreign {
namespace {

// A compiled program, with its leaves set run by run.
class Compiled {
 public:
  Compiled(const Program& program, const std::string& target)
      : program_(program),
        graph_(parse_graph(text_of(program))),
        executable_(compile(*graph_, {.backend = {.target = target, .threads = program.threads},
                                      .plan = {.fusion = program.fusion,
                                               .numerics = program.numerics,
                                               .rolling = program.rolling},
                                      .storage = {.cache_folder = "none", .records = "none"}})) {}

  void run(size_t r, bool checked) {
    const ProgramRun& run = program_.runs[r];
    for (const auto& [k, leaf] : program_.leaves) {
      const Step& step = program_.steps[static_cast<size_t>(k)];
      const auto given = run.leaves.find(step.name);
      if (step.shadow || given == run.leaves.end()) continue;
      const bool again = r > 0 && step.role == Role::Weight &&
                         program_.runs[r - 1].leaves.at(step.name) == given->second;
      if (again) continue;
      executable_.set(
          *graph_->find(step.name),
          TensorData::copy_bytes(step.dtype, given->second, sizes_of(step.shape, run.variables)));
    }
    Bindings bindings;
    for (Expr used : variables(*graph_)) {
      for (size_t v = 0; v < program_.variables.size(); ++v) {
        if (program_.variables[v].name == used.name()) bindings.set(used.name(), run.variables[v]);
      }
    }
    std::ostringstream printed;
    executable_.run(bindings, {.out = &printed, .check_kernels = checked});
  }

  Tensor value(const std::string& name) const {
    const TensorData data = executable_.get_data(*graph_->find(name));
    return decoded(data.dtype, data.dims, data.bytes);
  }

 private:
  const Program& program_;
  std::unique_ptr<Graph> graph_;
  Executable executable_;
};

std::string text_of_element(const Tensor& tensor, size_t k) {
  if (!is_float(tensor.dtype)) return fmt::format("{}", tensor.wholes[k].value);
  const Real& x = tensor.reals[k];
  if (x.is_nan()) return "NaN";
  if (x.is_point()) return fmt::format("{:.10g}", x.low);
  return fmt::format("{:.10g} … {:.10g}{}", x.low, x.high, x.nan ? " or NaN" : "");
}

void compare(const std::string& name, const Tensor& wanted, const Tensor& got, Verdict& verdict) {
  verdict.elements += wanted.count();
  if (wanted.sizes != got.sizes) {
    verdict.kind = Verdict::Kind::Wrong;
    verdict.what = fmt::format("{} has other sizes than it should", name);
    return;
  }
  size_t wrong = 0;
  for (size_t k = 0; k < wanted.count(); ++k) {
    const Judgement judgement = judge_element(wanted, got, k);
    verdict.unknown += judgement == Judgement::Unknown;
    if (judgement != Judgement::Wrong) continue;
    if (wrong++ > 0) continue;
    verdict.kind = Verdict::Kind::Wrong;
    verdict.what = fmt::format("{}, element {}: {}, expected {}", name, k, text_of_element(got, k),
                               text_of_element(wanted, k));
  }
  if (wrong > 0) verdict.what += fmt::format(" ({} of {} are wrong)", wrong, wanted.count());
}

}  // namespace

Expected expected_of(const Program& program) {
  Expected expected;
  std::map<int, Tensor> states;
  for (const ProgramRun& run : program.runs) {
    expected.push_back(evaluate(program, run, states));
    for (const auto& [state, value] : program.updates) {
      states[state] = expected.back()[static_cast<size_t>(value)];
    }
  }
  return expected;
}

Verdict judge(const Program& program, const Expected& expected, const std::string& target) {
  Verdict verdict;
  try {
    verify(*parse_graph(text_of(program)));
  } catch (const UserError& error) {
    return {.kind = Verdict::Kind::Refused, .what = error.what()};
  }
  try {
    Compiled compiled(program, target);
    for (size_t r = 0; r < program.runs.size() && verdict.what.empty(); ++r) {
      compiled.run(r, false);
      for (size_t k = 0; k < program.outputs.size() && verdict.what.empty(); ++k) {
        const std::string name = fmt::format("y{}", k);
        compare(name, expected[r][static_cast<size_t>(program.outputs[k])], compiled.value(name),
                verdict);
      }
      for (const auto& [state, value] : program.updates) {
        if (!verdict.what.empty()) break;
        const std::string& name = program.steps[static_cast<size_t>(state)].name;
        compare(name, expected[r][static_cast<size_t>(value)], compiled.value(name), verdict);
      }
      if (!verdict.what.empty()) verdict.what = fmt::format("run {}: {}", r, verdict.what);
    }
  } catch (const UserError& error) {
    // A row outside ends the run where a result needs it; those before it were judged.
    const bool stray = std::string_view(error.what()).find("is outside 0 …") != std::string::npos;
    if (program.has_strays && stray) return verdict;
    return {.kind = Verdict::Kind::Wrong, .what = fmt::format("threw: {}", error.what())};
  } catch (const std::exception& error) {
    return {.kind = Verdict::Kind::Wrong, .what = fmt::format("threw: {}", error.what())};
  }
  return verdict;
}

Verdict judge_checker(const Program& program, const std::string& target) {
  try {
    Compiled compiled(program, target);
    for (size_t r = 0; r < program.runs.size(); ++r) compiled.run(r, true);
  } catch (const std::exception& error) {
    return {.kind = Verdict::Kind::FalseAlarm, .what = error.what()};
  }
  return {};
}

}  // namespace luminal::tests::foreign
