// Measures how long compile() takes on BERT-base, by stage, as JSON on one line. In-process caches
// must not help, so each run compiles once: two runs over one cache folder tell cold from warm.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_set>

#include "luminal/llm/models/bert/bert.h"
#include "luminal/luminal.h"

namespace luminal {
namespace {

struct Options {
  int layers = 12;
  int64_t length = 0;
  std::string fusion = "modelled";
  std::string cache = "none";
  int threads = 0;
  bool plan_only = false;
  bool texts = false;
};

FusionPolicy fusion_of(const std::string& name) {
  if (name == "always") return FusionPolicy::Always;
  return name == "never" ? FusionPolicy::Never : FusionPolicy::Modelled;
}

// FNV-1a: identical in every run, so that plans can be told apart by their figures.
uint64_t fingerprint(const CompileReport& report) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const KernelReport& kernel : report.kernels) {
    for (char c : kernel.text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  }
  return hash;
}

nlohmann::json measure(const Options& options) {
  Graph graph;
  const Expr length = options.length > 0 ? Expr(options.length) : Expr::var("s", 1, 512);
  Tensor ids = graph.input("ids", {length}, DType::I64);
  llm::build_bert(nn::Scope(graph), ids, {.layers = options.layers}).output("states");
  CompileReport report;
  const auto start = std::chrono::steady_clock::now();
  try {
    compile(graph, {.backend = {.threads = options.threads},
                    .plan = {.fusion = fusion_of(options.fusion)},
                    .storage = {.cache_folder = options.cache},
                    .inspect = {.stop_after = options.plan_only ? "plan" : ""},
                    .report = &report});
  } catch (const CompileStopped&) {
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;

  nlohmann::json stages;
  for (const StageReport& stage : report.stages) stages[stage.name] = stage.seconds;
  std::unordered_set<std::string> distinct;
  int cached = 0;
  for (const KernelReport& kernel : report.kernels) {
    if (distinct.insert(kernel.text).second && options.texts) std::cerr << kernel.text << "\n";
    cached += kernel.from_cache;
  }
  return {{"layers", options.layers},
          {"length", options.length > 0 ? fmt::format("{}", options.length) : "dynamic"},
          {"seconds", taken.count()},
          {"stages", stages},
          {"nodes", graph.size()},
          {"egraph_nodes", report.egraph_nodes},
          {"kernels", report.kernels.size()},
          {"distinct_kernels", distinct.size()},
          {"from_cache", cached},
          {"candidates", report.search_candidates},
          {"lowered", report.search_kernels},
          {"bits", report.search_bits},
          {"model_us", report.model_us},
          {"plan", fmt::format("{:016x}", fingerprint(report))}};
}

}  // namespace
}  // namespace luminal

int main(int argc, char** argv) {
  luminal::Options options;
  CLI::App app("compile() of BERT-base: seconds by stage");
  app.add_option("--layers", options.layers, "Number of equal encoder layers")
      ->capture_default_str();
  app.add_option("--length", options.length,
                 "Sequence length; 0: a variable from 1 to 512, chosen per run");
  app.add_option("--fusion", options.fusion, "Fusion policy")
      ->check(CLI::IsMember({"modelled", "always", "never"}))
      ->capture_default_str();
  app.add_option("--cache", options.cache, "Folder for plans and compiled kernels")
      ->capture_default_str();
  app.add_option("-t,--threads", options.threads,
                 "Number of threads; 0: all that this process may use (default: 0)");
  app.add_flag("--plan-only", options.plan_only, "Stop before compiling kernels");
  app.add_flag("--texts", options.texts, "Print each distinct kernel's text to standard error");
  CLI11_PARSE(app, argc, argv);
  std::cout << luminal::measure(options).dump() << "\n";
}
