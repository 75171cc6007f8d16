// Streams a model's answer to standard output, and reports its statistics.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "apps/cli/options/model_options.h"
#include "apps/cli/terminal/progress_line.h"
#include "apps/cli/terminal/wrapping_writer.h"
#include "luminal/llm/generate.h"
#include "luminal/llm/session.h"

namespace luminal::cli {

// Opens the model's files and checks the options against them: errors come before compiling.
llm::Model open_model(const ModelArguments& arguments);

// Compiles the model, with a progress line.
llm::Session open_session(const llm::Model& model, const ModelArguments& arguments,
                          ProgressLine& line);

// Where an answer goes, and the progress of reading its prompt.
struct AnswerOutput {
  ProgressLine& line;
  WrappingWriter& writer;
  std::function<bool()> interrupted = nullptr;  // ends the answer if it returns true
};

// Streams the answer, without ending its last line.
llm::Generated stream_answer(llm::Session& session, std::span<const TokenId> prompt,
                             llm::GenerateOptions options, const AnswerOutput& output);

// Reports on standard error if the answer ended because the context is full.
void note_full_context(const llm::Session& session, llm::EndReason reason);

// "24 tokens, 31.2 tokens/s, TTFT 0.12 s"
std::string speed_text(const llm::Generated& generated);

// Prints the figures of --stats to standard error.
void print_stats(const llm::Session& session, const llm::Generated& generated,
                 const llm::SamplingOptions& sampling, int threads);

}  // namespace luminal::cli
