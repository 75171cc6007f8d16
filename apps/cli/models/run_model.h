// luminal run, of a language model.
#pragma once

#include <string>

#include "apps/cli/options/model_options.h"

namespace luminal::cli {

struct RunModelOptions {
  ModelArguments model;
  std::string prompt;
  bool has_prompt = false;
  std::string prompt_file;  // in place of `prompt`
  bool raw = false;         // the prompt as it is, without the chat template
  bool json = false;        // one object instead of the text as it comes
  std::string trace;        // a file for the steps of all runs; empty for none
};

// Continues the prompt that `options` give, followed by what is piped into standard input.
void run_model(const RunModelOptions& options);

}  // namespace luminal::cli
