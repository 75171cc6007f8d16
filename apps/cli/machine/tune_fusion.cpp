#include "apps/cli/machine/tune_fusion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>

#include "apps/cli/options/numbers.h"
#include "apps/cli/options/progress_options.h"
#include "apps/cli/terminal/progress_line.h"
#include "luminal/base/errors.h"
#include "luminal/driver/fusion/fusion_records.h"
#include "luminal/driver/fusion/measure_fusion.h"
#include "luminal/graph/traverse.h"
#include "luminal/llm/model.h"
#include "luminal/search/fusion/find_patterns.h"

namespace luminal::cli {
namespace {

// Decoding is a batch of single tokens, prefill is one sequence: tokens are rows in both cases.
constexpr int64_t kDecode[] = {1, 2, 4, 8, 16, 32};
constexpr int64_t kPrefill[] = {128, 256, 512, 1024, 2048};
constexpr int64_t kQuickTokens[] = {1, 8, 32, 128, 512};
constexpr double kQuickSeconds = 0.25;

struct TuneFusionArguments {
  std::string output;
  std::vector<std::string> dtypes = {"f32"};
  int64_t hidden = 576;  // of SmolLM2-135M
  int64_t intermediate = 1536;
  std::string model;
  bool quick = false;
  double seconds = 0;  // 0: as --quick says
  std::string library = "never";
  ProgressArguments progress;
  CompileOptions compile;
};

struct Question {
  FusionPattern pattern;
  FusionShape shape;
};

// A pattern with its features and columns.
using Width = std::tuple<FusionPattern, int64_t, int64_t>;

std::set<Width> widths_of_model(const std::string& path) {
  const llm::Model model = llm::Model::open(path);
  Graph graph;
  const int64_t room = std::min<int64_t>(model.decoder().context, 2048);
  model.build(graph, DType::F32, {.room = room});
  std::set<Width> widths;
  for (const search::PatternPlace& place : search::find_patterns(graph, roots(graph))) {
    if (const auto shape = search::shape_of(place, {{"s", 1}, {"past", 0}})) {
      const FusionShape measured = measured_shape(place.pattern, *shape);
      widths.emplace(place.pattern, measured.hidden, measured.intermediate);
    }
  }
  if (widths.empty()) {
    throw UserError(fmt::format("'{}' has no pattern that fusing could be measured for ({})", path,
                                fmt::join(fusion_pattern_names(), ", ")));
  }
  return widths;
}

std::set<Width> widths_of(const TuneFusionArguments& options) {
  if (!options.model.empty()) return widths_of_model(options.model);
  // The readers of a norm before a feed-forward layer are its gate and up projections.
  return {{FusionPattern::SwiGlu, options.hidden, options.intermediate},
          {FusionPattern::AddRmsNorm, options.hidden, 2 * options.intermediate}};
}

std::vector<int64_t> tokens_of(const TuneFusionArguments& options) {
  if (options.quick) return {std::begin(kQuickTokens), std::end(kQuickTokens)};
  std::vector<int64_t> tokens(std::begin(kDecode), std::end(kDecode));
  tokens.insert(tokens.end(), std::begin(kPrefill), std::end(kPrefill));
  return tokens;
}

std::vector<Question> questions_of(const TuneFusionArguments& options) {
  std::vector<Question> questions;
  const std::set<Width> widths = widths_of(options);
  for (const std::string& dtype : options.dtypes) {
    for (const auto& [pattern, hidden, intermediate] : widths) {
      for (int64_t tokens : tokens_of(options)) {
        const FusionShape shape{.tokens = tokens,
                                .hidden = hidden,
                                .intermediate = intermediate,
                                .dtype = *dtype_from_name(dtype)};
        questions.push_back({pattern, measured_shape(pattern, shape)});
      }
    }
  }
  return questions;
}

// Keeps the file's entries if they were measured under the same conditions.
FusionProfile profile_for(const std::string& file, const CompileOptions& options) {
  const FusionConditions conditions = fusion_conditions(options.backend, options.plan.numerics);
  if (!std::filesystem::exists(file)) return FusionProfile(conditions);
  FusionProfile profile = FusionProfile::read(file);
  const std::string differs = profile.conditions().differ_from(conditions);
  if (differs.empty()) return profile;
  throw UserError(fmt::format("'{}' is a fusion profile for {}; name another file, or remove it",
                              file, differs));
}

const char* verdict(const FusionAnswer& answer) {
  if (answer.rounds == 0) return "-";
  if (is_noisy(answer)) return "too busy to tell";
  if (answer.low > 1) return "fusing loses";
  return answer.high < 1 ? "fusing wins" : "a tie";
}

std::string line_of(const Question& question, const FusionAnswer& answer) {
  const std::string figures =
      answer.rounds == 0
          ? "the same plan"
          : fmt::format("{:.3f} ({:.3f} … {:.3f})", answer.ratio, answer.low, answer.high);
  return fmt::format("{:<13} {:<5} {:>6} {:>6} {:>6}  {:<24} {:>2} {:>2}  {}\n",
                     name(question.pattern), name(question.shape.dtype), question.shape.hidden,
                     question.shape.intermediate, question.shape.tokens, figures,
                     answer.fused_kernels, answer.unfused_kernels, verdict(answer));
}

void run(TuneFusionArguments options) {
  options.compile.backend.library = options.library == "always"     ? LibraryPolicy::Always
                                    : options.library == "measured" ? LibraryPolicy::Measured
                                                                    : LibraryPolicy::Never;
  const std::vector<Question> questions = questions_of(options);
  FusionProfile profile = profile_for(options.output, options.compile);
  FusionRecords records(options.compile);
  FusionTiming timing;
  if (options.quick) timing.seconds = kQuickSeconds;
  if (options.seconds > 0) timing.seconds = options.seconds;
  ProgressLine line(progress_mode(options.progress.verbose, options.progress.quiet));
  std::cout << fmt::format("{:<13} {:<5} {:>6} {:>6} {:>6}  {:<24} {:>5}\n", "pattern", "dtype",
                           "hidden", "inter", "tokens", "fused / unfused (95 %)", "kernels");
  int loses = 0, busy = 0;
  for (size_t i = 0; i < questions.size(); ++i) {
    const auto& [pattern, shape] = questions[i];
    line.show_share("fusion", static_cast<int64_t>(i), std::ssize(questions),
                    fmt::format("questions: {}, {}", name(pattern), text(shape)));
    const FusionAnswer answer = measure_fusion(pattern, shape, options.compile, timing);
    profile.add(pattern, shape, answer);
    profile.write(options.output);  // after each answer: an interrupted run keeps them
    records.put(pattern, shape, answer);
    line.clear();
    std::cout << line_of(questions[i], answer) << std::flush;
    loses += answer.rounds > 0 && answer.low > 1 && !is_noisy(answer);
    busy += is_noisy(answer);
  }
  if (busy > 0) {
    std::cout << fmt::format("{} of them can't be told: run it again when the machine is quiet\n",
                             busy);
  }
  for (const std::string& note : records.notes()) std::cout << fmt::format("note: {}\n", note);
  std::cout << fmt::format("fusing loses in {} of {} settings; {} answers in {}\n", loses,
                           questions.size(), profile.size(), options.output);
}

}  // namespace

void define_tune_fusion(CLI::App& app) {
  auto options = std::make_shared<TuneFusionArguments>();
  app.footer(
      "Measures decoding (1 … 32 tokens) and prefill (128 … 2048 tokens), prints where\n"
      "fusing wins and loses, and keeps the answers for `luminal compile --fusion measured`:\n"
      "in the tuning records, and in a profile for --fusion-profile FILE; see docs/fusion.md");
  app.add_option("-o,--output", options->output,
                 "Profile to write; answers to other questions are kept")
      ->type_name("FILE")
      ->required();
  app.add_option("--dtype", options->dtypes,
                 "Data types that values are stored in, comma-separated")
      ->delimiter(',')
      ->check(CLI::IsMember({"f32", "bf16", "f16"}))
      ->capture_default_str();
  CLI::Option* hidden =
      app.add_option("--hidden", options->hidden, "Hidden size: features of a token")
          ->check(CLI::Range(1, 1 << 20))
          ->capture_default_str();
  CLI::Option* intermediate = app.add_option("--intermediate", options->intermediate,
                                             "Intermediate size: features of gate and up")
                                  ->check(CLI::Range(1, 1 << 20))
                                  ->capture_default_str();
  app.add_option("--model", options->model,
                 "Take the sizes of a model: a GGUF file, or a folder in Hugging Face's layout")
      ->type_name("PATH")
      ->excludes(hidden)
      ->excludes(intermediate);
  app.add_flag("--quick", options->quick, "Measure fewer settings, for 0.25 s each");
  app.add_option("--seconds", options->seconds,
                 "Approximate seconds per question (default: 1, or 0.25 with --quick)")
      ->check(CLI::Range(0.01, 600.0));
  app.add_option("-t,--threads", options->compile.backend.threads,
                 "Number of threads; 0: all that this process may use (default: 0)")
      ->check(not_negative());
  app.add_option("--target", options->compile.backend.target, "As in `luminal compile`");
  app.add_option("--library", options->library, "As in `luminal compile`")
      ->check(CLI::IsMember({"never", "measured", "always"}))
      ->capture_default_str();
  app.add_option("--cache", options->compile.storage.cache_folder,
                 "Folder for plans and compiled kernels, or 'none' (default: the user's)");
  app.add_option("--records", options->compile.storage.records,
                 "File of tuning records, or 'none' (default: the user's)")
      ->type_name("FILE");
  app.add_flag("--keep-busy-times", options->compile.search.keep_busy_times,
               "Also record times measured while other programs run");
  options->progress.add_to(app);
  app.callback([options] { run(*options); });
}

}  // namespace luminal::cli
