// A model's answer on standard output as it comes, and what it took.
#pragma once

#include <span>

#include "apps/cli/model_options.h"
#include "apps/cli/progress_line.h"
#include "luminal/llm/generate.h"
#include "luminal/llm/session.h"

namespace luminal::cli {

// The model's files, with options that it can take: what can't work is said before anything is
// compiled.
llm::Model open_model(const ModelArguments& arguments);

// The model, compiled: says how far that is.
llm::Session open_session(const llm::Model& model, const ModelArguments& arguments,
                          ProgressLine& line);

// Prints the answer and a new line; on standard error why it ended, where one should know, and the
// figures that --stats asks for.
llm::Generated answer(llm::Session& session, std::span<const TokenId> prompt,
                      const ModelArguments& arguments, ProgressLine& line);

}  // namespace luminal::cli
