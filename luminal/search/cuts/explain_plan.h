// Why a plan stores what it stores, and computes inside what it doesn't: for reports, after the
// search, of the plan that it found.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "luminal/search/cuts/find_plan.h"

namespace luminal::search {

// Why a value is in memory and not inside of the kernels that read it.
enum class StoredBecause : uint8_t {
  Result,           // an output, a state's new value, a probe
  HostStep,         // a step on the host reads it
  GatheredData,     // a gather reads it where another value says
  Scattered,        // a scatter updates it where it lies
  Required,         // Tensor::materialize()
  LoopBoundary,     // a trip of a rolled loop hands it over
  Policy,           // FusionPolicy::Never
  Decided,          // not to fuse the pattern that it is part of
  LongChain,        // a long run of element-wise ops is split there
  NoKernelHolds,    // its readers with it inside aren't a kernel: `why` is the limit
  CostsMoreInside,  // by the model
  CostsLessInside,  // by the model, and the search didn't get there or the clock disagreed
};

const char* text(StoredBecause reason);  // "a host step reads it"

struct StoredValue {
  kernel::ClassId value;
  std::vector<kernel::ClassId> readers;  // the kernels that could absorb it, each by one of its
                                         // outputs
  StoredBecause because = StoredBecause::Result;
  std::string why;           // of NoKernelHolds
  double extra_seconds = 0;  // of the last two: what computing it by its readers adds to the plan
};

// Who reads each stored value, by the first that the reader stores.
std::map<kernel::ClassId, std::vector<kernel::ClassId>> readers_of(const kernel::Plan& plan);

// Every value that a kernel of the plan stores and another kernel reads, in the plan's order. `cut`
// is the choice behind the plan.
std::vector<StoredValue> explain_plan(const kernel::TermGraph& graph, const PlanRequest& request,
                                      const SearchOptions& options, const kernel::Plan& plan,
                                      const std::vector<bool>& cut);

// A value that kernels compute for themselves, and what storing it would add to the plan.
struct AbsorbedValue {
  kernel::ClassId value;
  std::vector<kernel::ClassId> kernels;  // that compute it, each by one of its outputs
  double extra_seconds = 0;  // before kernels side by side are merged; of a loop's value, in a trip
  std::string why;           // not empty: there is no plan that stores it
};

// Every value inside of a kernel that could as well be in memory, in the plan's order. Takes about
// as long as the search did.
std::vector<AbsorbedValue> explain_absorbed(const kernel::TermGraph& graph,
                                            const PlanRequest& request,
                                            const SearchOptions& options, const kernel::Plan& plan,
                                            const std::vector<bool>& cut);

}  // namespace luminal::search
