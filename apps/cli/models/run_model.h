// luminal run of a language model.
#pragma once

#include <string>

#include "apps/cli/options/model_options.h"

namespace luminal::cli {

struct RunModelOptions {
  ModelArguments model;
  std::string prompt;
  bool has_prompt = false;
  std::string prompt_file;  // instead of `prompt`
  bool raw = false;         // without the chat template
  bool json = false;        // one JSON object instead of streamed text
  std::string trace;        // file for the steps of all runs; empty for none
};

// Continues the given prompt, followed by what is piped into standard input.
void run_model(const RunModelOptions& options);

}  // namespace luminal::cli
