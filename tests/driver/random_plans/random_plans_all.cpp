// Fifty random plans of every architecture, rolled ones included: the whole space is right.
#include "tests/driver/random_plans/random_plans_check.h"

namespace luminal {
namespace {

class RandomPlans : public testing::TestWithParam<ModelCase> {};

TEST_P(RandomPlans, FiftyAgreeWithTheInterpreter) {
  check_random_plans(GetParam(), 50, 100);
  if (HasFatalFailure()) return;
  std::printf("%s: 50 plans\n", GetParam().name.c_str());
  std::fflush(stdout);
}

INSTANTIATE_TEST_SUITE_P(Models, RandomPlans, testing::ValuesIn(model_cases()));

}  // namespace
}  // namespace luminal
