// A model's answer on standard output as it comes, and what it took.
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

// The model's files, with options that it can take: what can't work is said before anything is
// compiled.
llm::Model open_model(const ModelArguments& arguments);

// The model, compiled: says how far that is.
llm::Session open_session(const llm::Model& model, const ModelArguments& arguments,
                          ProgressLine& line);

// Where an answer goes, beside how far its prompt is read.
struct AnswerOutput {
  ProgressLine& line;
  WrappingWriter& writer;
  std::function<bool()> interrupted = nullptr;  // ends the answer
};

// Writes the answer as it comes, without ending its last line.
llm::Generated stream_answer(llm::Session& session, std::span<const TokenId> prompt,
                             llm::GenerateOptions options, const AnswerOutput& output);

// Says on standard error that an answer ended since the context is full, if it did.
void note_full_context(const llm::Session& session, llm::EndReason reason);

// "24 tokens, 31.2 tokens/s, first token after 0.12 s"
std::string speed_text(const llm::Generated& generated);

// The figures that --stats asks for, on standard error.
void print_stats(const llm::Session& session, const llm::Generated& generated,
                 const llm::SamplingOptions& sampling, int threads);

}  // namespace luminal::cli
