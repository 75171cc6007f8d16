// luminal embed: the embeddings of texts, or their similarities.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/files/files.h"
#include "apps/cli/options/command.h"
#include "apps/cli/options/model_options.h"
#include "apps/cli/terminal/progress_line.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/memory.h"
#include "luminal/base/os/terminal.h"
#include "luminal/base/text/json_text.h"
#include "luminal/llm/embedder.h"

namespace luminal::cli {
namespace {

struct EmbedArguments {
  std::string model;
  std::vector<std::string> texts;
  std::string file = "-";
  std::string format = "json";
  std::string dtype = "f32";
  bool similarity = false;
  bool stats = false;
  bool quiet = false;
  CompileOptions compile;
};

// Totals of a run.
struct Totals {
  int64_t tokens = 0;
  std::vector<double> seconds;  // of each text
};

// One text per line, also for empty lines: the n-th result belongs to the n-th line.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    if (lines.back().ends_with('\r')) lines.back().pop_back();
    begin = end + 1;
  }
  return lines;
}

llm::Embedder open_embedder(const EmbedArguments& options, ProgressLine& line) {
  const llm::EmbeddingModel model = llm::EmbeddingModel::open(options.model);
  if (!model.states_pooling() && !options.quiet) {
    std::cerr << fmt::format(
        "luminal: '{}' has no modules.json that says what an embedding is: it is {}\n",
        options.model, text(model.pooling()));
  }
  llm::EmbedderOptions embedder{.dtype = dtype_of(options.dtype), .compile = options.compile};
  embedder.compile.progress = [&line](const CompileProgress& now) { line.show(now); };
  llm::Embedder made(model, embedder);
  line.clear();
  return made;
}

std::string numbers_text(const std::vector<float>& values, const char* between) {
  // The shortest text that reads back to the same bits.
  return fmt::format("{}", fmt::join(values, between));
}

void print_embedding(const std::string& text, const llm::Embedding& embedding,
                     const std::string& format) {
  if (format == "rows") {
    std::cout << numbers_text(embedding.values, " ") << "\n";
    return;
  }
  std::cout << fmt::format("{{\"text\": {}, \"tokens\": {}, \"embedding\": [{}]}}\n",
                           base::json_quoted(text), embedding.tokens,
                           numbers_text(embedding.values, ", "));
}

void print_similarity(const std::vector<llm::Embedding>& embeddings, const std::string& format) {
  std::vector<std::string> rows;
  for (const llm::Embedding& a : embeddings) {
    std::vector<std::string> row;
    for (const llm::Embedding& b : embeddings) {
      row.push_back(fmt::format("{:.4f}", llm::cosine(a.values, b.values)));
    }
    rows.push_back(format == "rows" ? fmt::format("{}", fmt::join(row, " "))
                                    : fmt::format("[{}]", fmt::join(row, ", ")));
  }
  for (const std::string& row : rows) std::cout << row << "\n";
}

void print_stats(const llm::Embedder& embedder, Totals totals) {
  const auto line = [](const char* label, const std::string& text) {
    std::cerr << fmt::format("{:<10}{}\n", label, text);
  };
  line("load", fmt::format("{:.3f} s", embedder.model().load_seconds()));
  line("compile", fmt::format("{:.3f} s", embedder.compile_seconds()));
  line("pooling", text(embedder.model().pooling()));
  double all = 0;
  for (double seconds : totals.seconds) all += seconds;
  std::ranges::sort(totals.seconds);
  line("texts", fmt::format("{} with {} tokens, {:.2f} ms each (median), {:.0f} tokens per second",
                            totals.seconds.size(), totals.tokens,
                            1e3 * totals.seconds[totals.seconds.size() / 2],
                            static_cast<double>(totals.tokens) / all));
  line("memory", fmt::format("{:.0f} MB resident: weights {:.0f} MB",
                             static_cast<double>(base::resident_bytes()) / 1e6,
                             static_cast<double>(embedder.weight_bytes()) / 1e6));
}

void embed(const EmbedArguments& options) {
  const std::vector<std::string> texts =
      options.texts.empty() ? lines_of(read_text(options.file)) : options.texts;
  if (texts.empty()) {
    throw UserError("there is no text to embed: give some after the model, or a file with --file");
  }
  ProgressLine line(progress_mode(false, options.quiet));
  llm::Embedder embedder = open_embedder(options, line);
  Totals totals;
  std::vector<llm::Embedding> kept;  // only for --similarity: there may be many texts
  for (size_t i = 0; i < texts.size(); ++i) {
    line.show_share("embedding", static_cast<int64_t>(i), static_cast<int64_t>(texts.size()),
                    "texts");
    const auto start = std::chrono::steady_clock::now();
    llm::Embedding embedding = embedder.embed(texts[i]);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    totals.seconds.push_back(taken.count());
    totals.tokens += embedding.read;
    if (embedding.read < embedding.tokens && !options.quiet) {
      line.clear();
      std::cerr << fmt::format("luminal: text {} has {} tokens; the model reads the first {}\n",
                               i + 1, embedding.tokens, embedding.read);
    }
    if (options.similarity) {
      kept.push_back(std::move(embedding));
    } else {
      if (base::output_is_terminal()) line.clear();
      print_embedding(texts[i], embedding, options.format);
    }
  }
  line.clear();
  if (options.similarity) print_similarity(kept, options.format);
  if (options.stats) print_stats(embedder, std::move(totals));
}

}  // namespace

void define_embed(CLI::App& app) {
  auto options = std::make_shared<EmbedArguments>();
  app.add_option("model", options->model, "Folder of a BERT model in Hugging Face's layout")
      ->required();
  CLI::Option* texts = app.add_option("texts", options->texts, "Texts, each embedded separately");
  app.add_option("-f,--file", options->file, "File with one text per line; - for standard input")
      ->excludes(texts)
      ->capture_default_str();
  app.add_flag_callback("--json", [options] { options->format = "json"; }, "Same as --format json");
  app.add_option(
         "--format", options->format,
         "json: one object per line with text, tokens and embedding; rows: only the numbers")
      ->check(CLI::IsMember({"json", "rows"}))
      ->capture_default_str();
  app.add_flag("--similarity", options->similarity,
               "Print the cosine similarity of every pair of texts, one line per text, instead of "
               "embeddings");
  add_dtype(app, options->dtype);
  add_threads_and_cache(app, options->compile);
  app.add_flag("-v,--verbose,--stats", options->stats,
               "Print the time of loading, compiling and each text to standard error");
  app.add_flag("-q,--quiet", options->quiet, "Print only results and errors");
  app.callback([options] { embed(*options); });
}

}  // namespace luminal::cli
