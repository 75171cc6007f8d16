// Fifty random plans of every architecture, rolled ones included: the whole space is right.
#include "tests/driver/random_plans_check.h"

namespace luminal {
namespace {

TEST(RandomPlans, FiftyOfEachModelAgreeWithTheInterpreter) {
  for (const ModelCase& model : model_cases()) {
    check_random_plans(model, 50, 100);
    std::printf("%s: 50 plans\n", model.name.c_str());
  }
}

}  // namespace
}  // namespace luminal
