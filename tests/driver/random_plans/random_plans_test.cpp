// A few random plans of every architecture; random_plans_all takes fifty.
#include "tests/driver/random_plans/random_plans_check.h"

namespace luminal {
namespace {

TEST(RandomPlans, AFewOfEachModelAgreeWithTheInterpreter) {
  for (const ModelCase& model : model_cases()) check_random_plans(model, 2, 1);
}

}  // namespace
}  // namespace luminal
