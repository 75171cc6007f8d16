// PlanDiff: compares two compiles: which kernels are the same, what replaces the others, and what
// only one of them stores.
#pragma once

#include <string>
#include <vector>

#include "luminal/driver/report.h"

namespace luminal {

// Kernels of one plan and those of the other that compute the same nodes; they share no node with
// any others.
struct DiffedRegion {
  std::vector<const KernelReport*> a, b;
  size_t count = 1;  // number of such regions, as layers have
  double a_us = 0;   // of one of them
  double b_us = 0;
  bool same = false;  // the same kernel, whose time differs

  double difference() const { return static_cast<double>(count) * (b_us - a_us); }
};

struct DiffedPlan {
  const PlanReport* a = nullptr;  // one may be missing
  const PlanReport* b = nullptr;
  size_t a_kernels = 0, b_kernels = 0;  // without kernels that only pack weights
  double a_us = 0, b_us = 0;
  bool a_measured = false, b_measured = false;                // all of it
  size_t n_same = 0;                                          // kernels with the same text
  double same_us = 0;                                         // theirs, in a
  std::vector<DiffedRegion> regions;                          // by what they change, the most first
  std::vector<const StoredReport*> stored_in_a, stored_in_b;  // there alone
};

struct PlanDiff {
  std::string a_name, b_name;
  std::string a_target, b_target;
  bool same_graph = false;  // else kernels are compared by their text alone
  std::vector<DiffedPlan> plans;
};

// Plans are compared by their variants. The reports must outlive it.
PlanDiff diff_plans(const CompileReport& a, std::string a_name, const CompileReport& b,
                    std::string b_name);

std::string text(const PlanDiff& diff);
std::string json(const PlanDiff& diff);

}  // namespace luminal
