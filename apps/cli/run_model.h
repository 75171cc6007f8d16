// luminal run, of a language model.
#pragma once

#include <string>

#include "apps/cli/model_options.h"

namespace luminal::cli {

struct RunModelOptions {
  ModelArguments model;
  std::string prompt;
  bool has_prompt = false;  // otherwise it comes from standard input
  bool raw = false;         // the prompt as it is, without the chat template
  std::string trace;        // a file for the steps of all runs; empty for none
};

void run_model(const RunModelOptions& options);

}  // namespace luminal::cli
