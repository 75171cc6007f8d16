// Explanation: a compile report by kernel: what each computes, why it is as it is, what it was
// chosen over, and how near it comes to the roofline.
#pragma once

#include <string>
#include <vector>

#include "luminal/driver/report.h"

namespace luminal {

// A time, and where it comes from.
struct Figure {
  double us = 0;
  bool measured = false;
};
const char* source(const Figure& figure);  // "measured", "by the model"

// Measured if available, else by the model.
Figure time_of(const KernelReport& kernel);

// A plan that differs in one value from the one that was found.
struct Alternative {
  std::string value;
  std::string taken, other;          // terms that compute it: in the plan, and in this one
  bool stores = false;               // whether it would be stored; else `readers` would compute it
  std::vector<std::string> readers;  // kernels
  double extra_us = 0;               // added to the plan, by the model
  std::string why;                   // not empty: the limit that rules it out
};

struct ExplainedKernel {
  const KernelReport* kernel = nullptr;
  std::vector<std::string> alike;  // kernels of the plan with the same code, on other values
  std::string title;               // of all of them
  std::vector<std::string> rules;  // behind its terms; added ones with their origin
  Figure time;                     // of one
  double share = 0;                // of the plan's time, including those alike
  std::string bound_by;            // "memory", "arithmetic" or "the launch"
  double bound_us = 0;             // the roofline: its lower bound, by the model
  double roofline_share = 0;       // bound_us over the time
  std::vector<Alternative> beat;   // the nearest first
  std::vector<const StoredReport*> must_store;  // values that must be stored
};

struct ExplainedPlan {
  const PlanReport* plan = nullptr;
  size_t n_kernels = 0;  // without kernels that only pack weights
  size_t n_packing = 0;
  size_t n_measured = 0;
  double us = 0;  // of all kernels together
  std::vector<ExplainedKernel> kernels;
};

struct Explanation {
  std::string name;  // of the graph or model
  std::string target;
  std::string machine;  // the peaks that the model and the roofline are of
  std::vector<ExplainedPlan> plans;
  std::vector<std::string> notes;
};

// Equal kernels of a plan are one entry. The report must outlive it. UserError for a report without
// plans.
Explanation explain(const CompileReport& report, std::string name);
// The same for one kernel by its number. UserError where there is none.
Explanation explain_kernel(const CompileReport& report, std::string name, int number);

std::string text(const Explanation& explanation);
std::string json(const Explanation& explanation);

}  // namespace luminal
