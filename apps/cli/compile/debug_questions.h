// The questions of `luminal debug-ops`: what an op or a tensor was compiled to, and why.
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

  // Defines the options; `this` must live until the command line is parsed.
  void add_to(CLI::App& app);
  bool any() const;
  // UserError if options that belong together aren't given together.
  void check() const;
};

// The answers, as text or JSON, under the name of the graph or model.
std::string answers(search::Inspection& inspection, const std::string& name,
                    const DebugQuestions& questions, bool as_json);

}  // namespace luminal::cli
