// Graphs that can be computed in two ways of which one is faster: by other terms, cuts, strategies,
// schedules or a library. Each way is forced, so that a search can be compared with both.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "luminal/kernel/plan/plan.h"
#include "luminal/luminal.h"

namespace luminal {

using BuildGraph = std::function<void(Graph&)>;

struct Way {
  std::string what;  // "A·(B·v)"
  BuildGraph build;  // written in this way
  PlanOptions plan;  // without rules that lead away from it
  LibraryPolicy library = LibraryPolicy::Never;
  std::function<void(kernel::KernelStep&)> change = nullptr;  // of each step
};

// What two ways differ in.
enum class Choice : uint8_t { Terms, Cuts, Schedule, Library };

struct TwoWays {
  std::string name;
  Choice choice = Choice::Terms;
  BuildGraph build;  // as a user writes it
  Numerics numerics = Numerics::Finite;
  LibraryPolicy library = LibraryPolicy::Never;  // what a search may use
  std::vector<Way> ways;                         // two
};

std::vector<std::string> two_ways_names();
// UserError that lists the names for an unknown one.
const TwoWays& two_ways(const std::string& name);

}  // namespace luminal
