// The kernels of a plan with all details, as JSON for the page.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "luminal/base/text/json_text.h"
#include "luminal/driver/explain/explanation.h"

namespace luminal::view {

// How much of a kernel's low-level code the page contains.
struct CodeOptions {
  bool wanted = true;
  size_t most_bytes = 24 << 10;  // per listing; the remainder is counted, not shown
};

// Fields of an object: `variant`, `sizes`, `us`, `model_us`; `kinds`: the distinct kernels, with
// the relevant fields of `luminal explain --json` and their code; `kernels`: all of them, each with
// its `kind`, the `nodes` it computes and its `launch`; `packing`: names of kernels that only pack
// weights into panels.
void write_plan(base::JsonText& json, const CompileReport& report, const ExplainedPlan& plan,
                const CodeOptions& code, const std::function<void(const std::string&)>& progress);

}  // namespace luminal::view
