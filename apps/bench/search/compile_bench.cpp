// How long compile() takes on BERT-base, by stage. In-process caches must not help, so a process
// compiles once: two processes over one cache folder tell cold from warm. Settings:
//   layers      number of equal encoder layers
//   length      of the sequence; 0: a variable from 1 to 512, chosen per run
//   fusion      policy: modelled, always, never
//   cache       folder for plans and compiled kernels, or "none"
//   threads     0: all that this process may use
//   plan_only   stop before compiling kernels
//   texts       print each distinct kernel's text to standard error
// Answers have the seconds of each stage and counts of nodes, kernels and candidates.
#include <fmt/format.h>

#include <cstdint>
#include <iostream>
#include <string>
#include <unordered_set>

#include "apps/bench/harness/bench_main.h"
#include "apps/bench/harness/timed_runs.h"
#include "luminal/llm/models/bert/bert.h"
#include "luminal/luminal.h"
#include "luminal/version.h"

namespace luminal {
namespace {

FusionPolicy fusion_of(const std::string& name) {
  if (name == "modelled") return FusionPolicy::Modelled;
  if (name == "always") return FusionPolicy::Always;
  if (name == "never") return FusionPolicy::Never;
  throw UserError("the fusion policy is modelled, always or never");
}

// FNV-1a: identical in every run, so that plans can be told apart by their figures.
uint64_t fingerprint(const CompileReport& report) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const KernelReport& kernel : report.kernels) {
    for (char c : kernel.text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  }
  return hash;
}

bench::Json answer(bool& compiled_before, const bench::Command& command) {
  if (command.times != 1 || command.seconds > 0 || compiled_before) {
    throw UserError("a process compiles once: start another");
  }
  compiled_before = true;
  const bench::Json& settings = command.settings;
  const int64_t fixed_length = settings.at("length");
  Graph graph;
  const Expr length = fixed_length > 0 ? Expr(fixed_length) : Expr::var("s", 1, 512);
  Tensor ids = graph.input("ids", {length}, DType::I64);
  llm::build_bert(nn::Scope(graph), ids, {.layers = settings.at("layers")}).output("states");
  CompileReport report;
  const CompileOptions options{.backend = {.threads = settings.at("threads")},
                               .plan = {.fusion = fusion_of(settings.at("fusion"))},
                               .storage = {.cache_folder = settings.at("cache")},
                               .inspect = {.stop_after = settings.at("plan_only") ? "plan" : ""},
                               .report = &report};
  const double seconds = bench::timed([&] {
    try {
      compile(graph, options);
    } catch (const CompileStopped&) {
    }
  });
  bench::Json stages = bench::Json::object();
  for (const StageReport& stage : report.stages) stages[stage.name] = stage.seconds;
  std::unordered_set<std::string> distinct;
  int cached = 0;
  for (const KernelReport& kernel : report.kernels) {
    if (distinct.insert(kernel.text).second && settings.at("texts")) {
      std::cerr << kernel.text << "\n";
    }
    cached += kernel.from_cache;
  }
  return {{"seconds", std::vector<double>{seconds}},
          {"layers", settings.at("layers")},
          {"length", fixed_length > 0 ? fmt::format("{}", fixed_length) : "dynamic"},
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
  using namespace luminal;
  bool compiled_before = false;
  return bench::bench_main(
      {.name = "luminal",
       .version = LUMINAL_VERSION,
       .cases = {"bert-base"},
       .settings = {{"layers", 12},
                    {"length", 0},
                    {"fusion", "modelled"},
                    {"cache", "none"},
                    {"threads", 0},
                    {"plan_only", false},
                    {"texts", false}},
       .answer = [&](const bench::Command& command) { return answer(compiled_before, command); }},
      argc, argv);
}
