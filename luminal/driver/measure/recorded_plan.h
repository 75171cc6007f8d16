// RecordedPlan: the plan that the tuning records hold for a question, for compiles that don't
// search. Reads only: no file is created.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "luminal/backends/backend.h"
#include "luminal/driver/measure/tuned_plan.h"
#include "luminal/driver/storage_options.h"

namespace luminal {

struct RecordedPlan {
  std::optional<TunedPlan> plan = {};
  std::string note = {};  // why records aren't used; empty if they hold nothing of the question
};

// The file of records, if it exists; looking for it is all that a compile without records pays.
std::optional<std::filesystem::path> existing_records(const StorageOptions& storage);

// `question` is the plan key under which the records keep answers.
RecordedPlan recorded_plan(const std::filesystem::path& file, const backends::LoadOptions& load,
                           const std::string& question);

}  // namespace luminal
