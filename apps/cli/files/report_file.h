// A compile report read back from the JSON that `luminal compile --report-json` writes.
#pragma once

#include <string>

#include "luminal/driver/report.h"

namespace luminal::cli {

// Whether a text starts like such a report; no graph does.
bool looks_like_report(const std::string& text);

// All of it. UserError, with `name`, for what isn't such a report.
CompileReport parse_report(const std::string& text, const std::string& name);

}  // namespace luminal::cli
