// Plans, records and cache entries as somebody would write them who means harm: everything about
// them is right (digests, checksums, keys) but for this user's seal.
#pragma once

#include <filesystem>
#include <functional>
#include <random>
#include <string>

#include "luminal/driver/measure/tuned_plan.h"
#include "luminal/kernel/plan/planned_graph.h"

namespace luminal::tests {

// Changes every plan in a file of records and writes it back. Returns how many there were.
int rewrite_plans(const std::filesystem::path& records,
                  const std::function<void(TunedPlan&)>& change);

// Changes the plan in an entry of the cache or of the records (see driver/compile/plan_cache.cpp).
void change_plan(std::string& entry, const std::function<void(kernel::PlannedGraph&)>& change);

// One random change of what a plan means: a number, an index, an extent, an operand, a type.
void mutate(kernel::PlannedGraph& planned, std::mt19937& random);

// One to four random changes of bytes.
std::string mutated(std::string bytes, std::mt19937& random);

}  // namespace luminal::tests
