// A model in one line: architecture, parameters, format, context, size, and whether it can be run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/cli/models/model_listing.h"

namespace luminal::cli {

struct ModelSummary {
  std::string architecture;  // empty if the file doesn't say
  int64_t parameters = 0;
  std::string format;  // "GGUF, Q4_1": with the most common dtype
  std::optional<int64_t> context;
  int64_t bytes = 0;
  std::string why_not;  // why it can't be run; empty if it can
};

ModelSummary summarise(const std::string& path, const ModelListing& listing);

// "llama, 134.5 M parameters, GGUF, Q4_1, context 8192, 97.6 MB; runs here: yes"
std::string summary_text(const ModelSummary& summary);

}  // namespace luminal::cli
