// Why a plan stores what it stores, and computes inside what it doesn't: for reports, after the
// search, of the plan that it found.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "luminal/search/find_plan.h"

namespace luminal::search {

// Why a value is in memory and not inside of the kernels that read it.
enum class StoredBecause : uint8_t {
  Result,         // an output, a state's new value, a probe
  HostStep,       // a step on the host reads it
  GatheredData,   // a gather reads it where another value says
  Scattered,      // a scatter updates it where it lies
  Required,       // Tensor::materialize()
  LoopBoundary,   // a trip of a rolled loop hands it over
  Policy,         // Fusion::Never
  Decided,        // not to fuse the pattern that it is part of
  LongChain,      // a long run of element-wise ops is split there
  NoKernelHolds,  // its readers with it inside aren't a kernel: `why` is the limit
  DearerInside,   // by the model, with both figures
};

const char* text(StoredBecause reason);  // "a host step reads it"

struct StoredValue {
  kernel::ClassId value;
  std::vector<kernel::ClassId> readers;  // the kernels that could absorb it, each by one of its
                                         // outputs
  StoredBecause because = StoredBecause::Result;
  std::string why;  // of NoKernelHolds
  // Of DearerInside: the whole plan as it is, and with the value computed by its readers.
  double plan_seconds = 0;
  double fused_seconds = 0;
};

// Who reads each stored value, by the first that the reader stores.
std::map<kernel::ClassId, std::vector<kernel::ClassId>> readers_of(const kernel::Plan& plan);

// Every value that a kernel of the plan stores and another kernel reads, in the plan's order. `cut`
// is the choice behind the plan.
std::vector<StoredValue> explain_plan(const kernel::TermGraph& graph, const PlanRequest& request,
                                      const SearchOptions& options, const kernel::Plan& plan,
                                      const std::vector<bool>& cut);

// A value that kernels compute for themselves, and what the plan would take if it were stored.
struct AbsorbedValue {
  kernel::ClassId value;
  std::vector<kernel::ClassId> kernels;  // that compute it, each by one of its outputs
  // The whole plan as it is, before kernels side by side are merged, and with the value stored.
  double plan_seconds = 0;
  double stored_seconds = 0;
  std::string why;  // not empty: there is no plan that stores it
};

// Every value inside of a kernel that could as well be in memory, in the plan's order. Takes about
// as long as the search did.
std::vector<AbsorbedValue> explain_absorbed(const kernel::TermGraph& graph,
                                            const PlanRequest& request,
                                            const SearchOptions& options, const kernel::Plan& plan,
                                            const std::vector<bool>& cut);

}  // namespace luminal::search
