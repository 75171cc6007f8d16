// Kernels of a plan, with all that is known of each, as JSON for the page.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "luminal/base/text/json_text.h"
#include "luminal/driver/explain/explanation.h"

namespace luminal::view {

// How much of a kernel's low-level code the page holds.
struct CodeOptions {
  bool wanted = true;
  size_t most_bytes = 24 << 10;  // of each listing; the rest is counted, not shown
};

// Fields of an object: `variant`, `sizes`, `us`, `model_us`; `kinds`: kernels that differ, with the
// fields of `luminal explain --json` that matter here and their code; `kernels`: all of them, each
// with its `kind`, the `nodes` it computes and its `launch`; `packing`: names of those that only
// store weights in panels.
void write_plan(base::JsonText& json, const CompileReport& report, const ExplainedPlan& plan,
                const CodeOptions& code, const std::function<void(const std::string&)>& progress);

}  // namespace luminal::view
