// Explains the plan that a search found, for reports: why it stores what it stores, and computes
// the other values inside of kernels.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "luminal/search/cuts/find_plan.h"

namespace luminal::search {

// Why a value is in memory and not inside of the kernels that read it.
enum class StoredBecause : uint8_t {
  Result,           // an output, a state's new value, a probe
  HostStep,         // a step on the host reads it
  GatheredData,     // a gather reads it at data-dependent indices
  Scattered,        // a scatter updates it in place
  Required,         // Tensor::materialize()
  LoopBoundary,     // an iteration of a rolled loop passes it to the next
  Policy,           // FusionPolicy::Never
  Decided,          // not to fuse the pattern that it is part of
  LongChain,        // a long run of element-wise ops is split there
  NoKernelHolds,    // no kernel can hold it with its readers: `why` is the limit
  CostsMoreInside,  // by the model
  CostsLessInside,  // by the model, but the search missed it or measurements disagree
};

const char* text(StoredBecause reason);  // "a host step reads it"

struct StoredValue {
  kernel::ClassId value;
  std::vector<kernel::ClassId> readers;  // the kernels that could absorb it, each by one of its
                                         // outputs
  StoredBecause because = StoredBecause::Result;
  std::string why;           // of NoKernelHolds
  double extra_seconds = 0;  // of the last two: added by computing it in its readers
};

// The readers of each stored value, each by its first output.
std::map<kernel::ClassId, std::vector<kernel::ClassId>> readers_of(const kernel::Plan& plan);

// Every value that a kernel of the plan stores and another kernel reads, in the plan's order.
std::vector<StoredValue> explain_plan(const kernel::TermGraph& graph, const PlanRequest& request,
                                      const SearchOptions& options, const FoundPlan& found);

// A value that kernels compute for themselves, and what storing it would add to the plan; or one
// that another term may compute, and what that would add.
struct AbsorbedValue {
  kernel::ClassId value;
  std::vector<kernel::ClassId> kernels;  // that compute it, each by one of its outputs
  std::optional<int> term = {};          // the other term of its class
  int taken = -1;                        // then: the one that the plan computes it by
  double extra_seconds = 0;              // before kernels are merged sideways; in a loop, per trip
  std::string why;                       // not empty: there is no such plan
};

// Every value inside of a kernel that could be in memory instead, and the other terms of values
// that kernels compute, in the plan's order. Takes about as long as the search did.
std::vector<AbsorbedValue> explain_absorbed(const kernel::TermGraph& graph,
                                            const PlanRequest& request,
                                            const SearchOptions& options, const FoundPlan& found);

}  // namespace luminal::search
