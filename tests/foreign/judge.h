// Compiles a program for a target, runs it, and compares all results with the oracle's.
#pragma once

#include <string>

#include "tests/foreign/oracle.h"
#include "tests/foreign/program.h"

namespace luminal::tests::foreign {

struct Verdict {
  enum class Kind : uint8_t {
    Right,
    Wrong,       // a value, or an error where there should be none
    FalseAlarm,  // the checker accuses a kernel whose values are right
    Refused,     // the graph isn't accepted: a map that couldn't be proved total
  };
  Kind kind = Kind::Right;
  std::string what = {};
  size_t elements = 0, unknown = 0;
};

// What the oracle says of every run: by run, all steps.
using Expected = std::vector<std::vector<Tensor>>;
Expected expected_of(const Program& program);

Verdict judge(const Program& program, const Expected& expected, const std::string& target);
// Runs in the checked mode, where each kernel is compared with the interpreter. Only for programs
// that were judged right.
Verdict judge_checker(const Program& program, const std::string& target);

}  // namespace luminal::tests::foreign
