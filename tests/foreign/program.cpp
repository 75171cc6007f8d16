#include "tests/foreign/program.h"

#include <fmt/format.h>

namespace luminal::tests::foreign {
namespace {

std::string type_of(const Step& step) {
  return fmt::format("{}{}", name(step.dtype), text_of(step.shape));
}

const char* role_of(Role role) {
  switch (role) {
    case Role::Input:
      return "input";
    case Role::Weight:
      return "weight";
    case Role::State:
      return "state";
  }
  return "";
}

std::string body_of(const Step& step) {
  std::string text;
  switch (step.op) {
    case Op::Input:
      return fmt::format("{} \"{}\"", role_of(step.role), step.name);
    case Op::Constant:
      return kind(step.dtype) == DTypeKind::Float ? fmt::format("constant {}", step.real)
                                                  : fmt::format("constant {}", step.integer);
    case Op::Iota:
      return fmt::format("iota {}", text_of(*step.map[0]));
    case Op::View:
      return fmt::format("view %{} {}", step.inputs[0], text_of(step.map));
    case Op::Reduce:
    case Op::Scan:
      text = fmt::format("{} {}", name(step.op), name(*step.reducer));
      break;
    case Op::Scatter:
      text = fmt::format("scatter {}", step.reducer ? name(*step.reducer) : "set");
      break;
    default:
      text = name(step.op);
      break;
  }
  for (int input : step.inputs) text += fmt::format(" %{}", input);
  return text;
}

}  // namespace

std::string text_of(const Program& program) {
  std::string text = "luminal-graph 1\n";
  for (const Variable& v : program.variables) {
    text += fmt::format("var {} {} {}\n", v.name, v.low, v.high);
  }
  for (size_t k = 0; k < program.steps.size(); ++k) {
    const Step& step = program.steps[k];
    if (step.shadow) continue;
    text += fmt::format("%{} = {} : {}\n", k, body_of(step), type_of(step));
    if (step.materialized) text += fmt::format("materialize %{}\n", k);
  }
  for (const auto& [state, value] : program.updates) {
    text += fmt::format("update %{} %{}\n", state, value);
  }
  for (size_t k = 0; k < program.outputs.size(); ++k) {
    text += fmt::format("output \"y{}\" %{}\n", k, program.outputs[k]);
  }
  return text;
}

std::string settings_of(const Program& program) {
  static constexpr const char* kFusion[] = {"modelled", "always", "never", "measured"};
  static constexpr const char* kNumerics[] = {"exact", "reassociating", "finite", "approximate"};
  static constexpr const char* kRolling[] = {"off", "auto", "always"};
  std::string text = fmt::format("fusion {}, numerics {}, rolling {}, threads {}",
                                 kFusion[static_cast<int>(program.fusion)],
                                 kNumerics[static_cast<int>(program.numerics)],
                                 kRolling[static_cast<int>(program.rolling)], program.threads);
  for (const ProgramRun& run : program.runs) {
    for (size_t k = 0; k < run.variables.size(); ++k) {
      text += fmt::format("{}{} = {}", k == 0 ? "; " : ", ", program.variables[k].name,
                          run.variables[k]);
    }
  }
  return text;
}

size_t bytes_of(DType dtype, int64_t count) {
  return dtype == DType::U4 ? static_cast<size_t>(count + 1) / 2
                            : static_cast<size_t>(count) * static_cast<size_t>(bits(dtype)) / 8;
}

}  // namespace luminal::tests::foreign
