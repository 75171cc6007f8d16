#include "apps/cli/options/model_options.h"

#include "apps/cli/options/numbers.h"
#include "luminal/driver/pin_threads.h"

#include <CLI/CLI.hpp>
#include <random>

namespace luminal::cli {

CLI::Option* add_dtype(CLI::App& app, std::string& dtype) {
  return app.add_option("--dtype", dtype, "Data type to compute in")
      ->check(CLI::IsMember({"f32", "bf16"}))
      ->capture_default_str();
}

DType dtype_of(const std::string& name) { return name == "bf16" ? DType::BF16 : DType::F32; }

void add_threads_and_cache(CLI::App& app, CompileOptions& compile) {
  app.add_option("-t,--threads", compile.backend.threads,
                 "Number of threads; 0: all that this process may use (default: 0)")
      ->check(not_negative());
  app.add_flag_callback(
      "--pin-threads", pin_threads,
      "Keep each helper thread on a core of its own: for machines that run nothing else");
  app.add_option("--cache", compile.storage.cache_folder,
                 "Folder for plans and compiled kernels, or 'none' (default: the user's)");
}

void ModelArguments::add_to(CLI::App& app) {
  const auto add = [&](const char* name, auto& value, const char* text) {
    return app.add_option(name, value, text)->group(kGroup);
  };
  add("-n,--max-tokens", max_tokens,
      "Maximum number of new tokens; 0: as many as fit into the context (default: 0)")
      ->check(not_negative());
  CLI::Option* warm =
      add("--temperature", temperature,
          "Sampling temperature; 0: greedy (default: the model's suggestion, else 0.7)");
  app.add_flag("--greedy", greedy,
               "Take the most likely token, so that the text is the same each time")
      ->group(kGroup)
      ->excludes(warm);
  add("--top-k", top_k,
      "Sample from the k most likely tokens; 0: all (default: the model's suggestion, else 0)")
      ->check(not_negative());
  add("--top-p", top_p,
      "Sample from the fewest tokens with this total probability; 1: all (default: the model's "
      "suggestion, else 0.95)");
  add("--min-p", min_p,
      "Sample from tokens with this probability relative to the most likely one; 0: all (default: "
      "the model's suggestion, else 0.05)");
  add("--repeat-penalty", repeat_penalty,
      "Make tokens seen before less likely, if above 1 (default: the model's suggestion, else 1)");
  add("--stop", stop, "End the text before this string; may be repeated")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  add("--system", system, "System prompt")->type_name("TEXT");
  add("-c,--context", context,
      "Context size in tokens, prompt and answer together; 0: the model's, at most 4096 (default: "
      "0)")
      ->check(not_negative());
  add_dtype(app, dtype)->group(kGroup);
  app.add_flag("-q,--quiet", quiet, "Print only the answer and errors")->group(kGroup);
  app.add_flag("-v,--verbose,--stats", stats,
               "Print the time of loading, compiling and each token, and the share of the read "
               "bandwidth, to standard error")
      ->group(kGroup);
}

void ModelArguments::add_shared_to(CLI::App& app) {
  app.add_option("--seed", seed, "Seed of sampling (default: random, printed by --stats)")
      ->check(whole_number());
  add_threads_and_cache(app, compile);
  search.add_to(app);
}

llm::SessionOptions ModelArguments::session_options() const {
  return {.context = context, .dtype = dtype_of(dtype), .compile = compile};
}

llm::GenerateOptions ModelArguments::generate_options(const llm::Model& model) const {
  llm::GenerateOptions options{
      .sampling = model.sampling(), .max_tokens = max_tokens, .stop = stop};
  llm::SamplingOptions& sampling = options.sampling;
  sampling.temperature = greedy ? 0 : temperature.value_or(sampling.temperature);
  sampling.top_k = top_k.value_or(sampling.top_k);
  sampling.top_p = top_p.value_or(sampling.top_p);
  sampling.min_p = min_p.value_or(sampling.min_p);
  sampling.repeat_penalty = repeat_penalty.value_or(sampling.repeat_penalty);
  sampling.seed = seed ? *seed : std::random_device()();
  check(sampling);
  return options;
}

}  // namespace luminal::cli
