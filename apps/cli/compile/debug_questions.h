// The questions of `luminal debug-ops` about planning: what became of an op or a tensor, and why.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "luminal/search/inspect/inspection.h"

namespace CLI {
class App;
}

namespace luminal::cli {

struct DebugQuestions {
  std::vector<std::string> inspect_op;
  std::vector<std::string> inspect_var;
  std::vector<std::pair<std::string, std::string>> trace_fn;  // function, tensor
  bool trace_missing_dtype = false;
  std::vector<std::string> why_not;
  std::vector<std::string> at;
  bool analyze = false;

  // Defines them; `this` must live until the command line is parsed.
  void add_to(CLI::App& app);
  bool any() const;
  // Those that belong together are.
  void check() const;
};

// The answers, as text or JSON, under the name of what was asked about.
std::string answers(search::Inspection& inspection, const std::string& name,
                    const DebugQuestions& questions, bool as_json);

}  // namespace luminal::cli
