#include "apps/cli/options/model_options.h"
#include "apps/cli/options/numbers.h"

#include <CLI/CLI.hpp>
#include <random>

namespace luminal::cli {

CLI::Option* add_dtype(CLI::App& app, std::string& dtype) {
  return app.add_option("--dtype", dtype, "What is computed in: f32 or bf16")
      ->check(CLI::IsMember({"f32", "bf16"}))
      ->capture_default_str();
}

DType dtype_of(const std::string& name) { return name == "bf16" ? DType::BF16 : DType::F32; }

void add_threads_and_cache(CLI::App& app, CompileOptions& compile) {
  app.add_option("-t,--threads", compile.threads, "0: as many as this process may use")
      ->check(not_negative());
  app.add_option("--cache", compile.cache_folder,
                 "Where plans and compiled kernels are kept: a folder, or 'none'");
}

void ModelArguments::add_to(CLI::App& app) {
  const auto add = [&](const char* name, auto& value, const char* text) {
    return app.add_option(name, value, text)->group(kGroup);
  };
  add("-n,--max-tokens", max_tokens, "The most new tokens; 0: as many as the context has room for")
      ->check(not_negative());
  CLI::Option* warm =
      add("--temperature", temperature,
          "0 takes the likeliest token; what the model's makers suggest if not said, or 0.7");
  app.add_flag("--greedy", greedy, "Take the likeliest token: the same text each time")
      ->group(kGroup)
      ->excludes(warm);
  add("--top-k", top_k, "Chooses among the k likeliest tokens; 0: all")->check(not_negative());
  add("--top-p", top_p, "Chooses among the fewest tokens that together are this likely; 1: all");
  add("--min-p", min_p, "Chooses among tokens this likely, relative to the likeliest; 0: all");
  add("--repeat-penalty", repeat_penalty, "Above 1: tokens seen before become less likely");
  add("--stop", stop, "Ends the text before this string; may be given several times")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  add("--system", system, "What the model is told before the conversation")->type_name("TEXT");
  add("-c,--context", context,
      "Tokens that fit, prompt and answer together; 0: what the model is made for, 4096 at most")
      ->check(not_negative());
  add_dtype(app, dtype)->group(kGroup);
  app.add_flag("-q,--quiet", quiet, "Print the answer and errors, nothing else")->group(kGroup);
  app.add_flag("-v,--verbose,--stats", stats,
               "Say what loading, compiling and each token took, and which share of the read "
               "bandwidth that is; on standard error")
      ->group(kGroup);
}

void ModelArguments::add_shared_to(CLI::App& app) {
  app.add_option("--seed", seed, "Of sampling; a random one if not said, which --stats prints")
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
