// A network (networks.h), compiled in one of three ways, for networks.py to interleave with other
// runtimes. Settings:
//   plan      "searched": all admitted rules, and the plan that the cost model finds; "measured":
//             a search by measurements goes on from there; "off": no rules, and kernels by fixed
//             rules of fusion instead of a search (FusionPolicy::Fixed)
//   numerics  class of rules that are admitted. "finite" by default: as the rules of Tensat and
//             the folding of batch norms elsewhere, these hold in real arithmetic
//   budget    seconds of a measured search
//   library   "measured", which uses oneDNN where it is faster, or "never"
//   inputs    folder with the bytes of the input and of each weight, by name; "": random numbers
//   cache     folder for plans, kernels and records; "": a new one
//   machine   file of the machine's peaks; "": those that `luminal doctor --measure` kept, or
//             defaults
//   pixels, narrower, repeats
//             a smaller network, see NetworkSize
//   threads   0: all that this process may use
//   slowest   how many of the slowest kernels to list
// Answers have compile_seconds and, of these, plan_seconds and search_seconds; saturation_ms,
// egraph_nodes, kernels, distinct_kernels, model_ms, parameters, machine and slowest. `write` takes
// the bytes of the result.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_set>

#include "apps/bench/harness/bench_main.h"
#include "apps/bench/harness/prepared.h"
#include "apps/bench/harness/random_leaves.h"
#include "apps/bench/harness/timed_runs.h"
#include "apps/bench/networks/networks.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/paths.h"
#include "luminal/luminal.h"
#include "luminal/search/terms/rule_set.h"
#include "luminal/version.h"

namespace luminal {
namespace {

Numerics numerics_of(const std::string& name) {
  if (const auto numerics = search::rule_class_from_name(name)) return *numerics;
  throw UserError("numerics is exact, reassociating, finite or approximate");
}

void choose_plan(const std::string& plan, double budget, CompileOptions& options) {
  options.search.mode = SearchMode::Modelled;
  if (plan == "searched") return;
  if (plan == "measured") {
    options.search.mode = SearchMode::Measured;
    options.search.seconds = budget;
    options.search.candidates = 10'000;
  } else if (plan == "off") {
    options.plan.disable_rules = search::RuleSet().groups();
    options.plan.fusion = FusionPolicy::Fixed;
    options.plan.rolling = Rolling::Off;
  } else {
    throw UserError("the plan is searched, measured or off");
  }
}

class PreparedNetwork : public bench::Prepared {
 public:
  PreparedNetwork(const std::string& name, const bench::Json& settings)
      : n_slowest_(settings.at("slowest")) {
    result_ = network(name).build(graph_, {.pixels = settings.at("pixels"),
                                           .narrower = settings.at("narrower"),
                                           .repeats = settings.at("repeats")});
    const std::string inputs = settings.at("inputs");
    if (inputs.empty()) bench::set_random_leaves(graph_);
    const CompileOptions options = options_of(settings);
    compile_seconds_ =
        bench::timed([&] { executable_ = std::make_unique<Executable>(compile(graph_, options)); });
    if (!inputs.empty()) bench::set_leaves(*executable_, graph_, inputs);
    executable_->run();
    executable_->release_folded();
  }

  double run() override {
    return bench::timed([&] { executable_->run(); });
  }

  void add_facts(bench::Json& answer) override {
    std::unordered_set<std::string> distinct;
    for (const KernelReport& kernel : report_.kernels) distinct.insert(kernel.text);
    answer["compile_seconds"] = compile_seconds_;
    answer["plan_seconds"] = seconds_of("plan");
    double searching = 0;
    for (const SearchReport& search : report_.searches) searching += search.seconds;
    answer["search_seconds"] = searching;
    answer["saturation_ms"] = seconds_of("saturated") * 1e3;
    answer["egraph_nodes"] = report_.egraph_nodes;
    answer["kernels"] = report_.kernels.size() - report_.n_packing();
    answer["distinct_kernels"] = distinct.size();
    answer["model_ms"] = report_.model_us / 1e3;
    answer["parameters"] = nn::n_parameters(graph_);
    answer["machine"] = report_.machine;
    if (n_slowest_ > 0) answer["slowest"] = slowest();
  }

  void write_result(const std::string& path) override {
    bench::write_bytes(path, executable_->get_data(result_).bytes);
  }

 private:
  CompileOptions options_of(const bench::Json& settings) {
    CompileOptions options;
    options.backend.threads = settings.at("threads");
    options.backend.library =
        settings.at("library") == "measured" ? LibraryPolicy::Measured : LibraryPolicy::Never;
    options.plan.numerics = numerics_of(settings.at("numerics"));
    options.storage.machine = settings.at("machine");
    std::filesystem::path folder = settings.at("cache").get<std::string>();
    if (folder.empty()) folder = folder_.path();
    options.storage.cache_folder = folder / "cache";
    options.storage.records = folder / "records.sqlite";
    options.report = &report_;
    choose_plan(settings.at("plan"), settings.at("budget"), options);
    return options;
  }

  // "0.81 of 4.02 ms, modelled 0.12: conv → relu (kernel 3), matmul, f32[1, 64, 112, 112]"
  std::vector<std::string> slowest() const {
    Trace trace;
    executable_->run({.trace = &trace});
    double total = 0;
    std::vector<TraceEvent> kernels;
    for (const TraceEvent& event : trace.events) {
      if (event.kind == "run") total = event.us;
      if (event.kind == "kernel") kernels.push_back(event);
    }
    std::ranges::sort(kernels, std::greater(), &TraceEvent::us);
    if (kernels.size() > n_slowest_) kernels.resize(n_slowest_);
    std::vector<std::string> lines;
    for (const TraceEvent& kernel : kernels) {
      const KernelReport& known = report_of(kernel.name);
      lines.push_back(fmt::format("{:.2f} of {:.2f} ms, modelled {:.2f}: {} ({}), {}, {}",
                                  kernel.us / 1e3, total / 1e3, known.model_us / 1e3, kernel.title,
                                  kernel.name, known.strategy, fmt::join(kernel.writes, ", ")));
      for (const std::string& reason : known.slow_paths) lines.back() += "; " + reason;
    }
    return lines;
  }

  const KernelReport& report_of(const std::string& kernel) const {
    static const KernelReport kUnknown;
    const auto found = std::ranges::find(report_.kernels, kernel, &KernelReport::name);
    return found == report_.kernels.end() ? kUnknown : *found;
  }

  double seconds_of(const std::string& stage) const {
    for (const StageReport& done : report_.stages) {
      if (done.name == stage) return done.seconds;
    }
    return 0;
  }

  size_t n_slowest_;
  base::TemporaryFolder folder_;
  Graph graph_;
  Tensor result_;
  CompileReport report_;
  double compile_seconds_ = 0;
  std::unique_ptr<Executable> executable_;
};

bench::Contestant contestant() {
  bench::Contestant made{
      .name = "luminal",
      .version = LUMINAL_VERSION,
      .cases = {},
      .settings = {{"plan", "searched"},
                   {"numerics", "finite"},
                   {"budget", 20.0},
                   {"library", "never"},
                   {"inputs", ""},
                   {"cache", ""},
                   {"machine", ""},
                   {"pixels", 0},
                   {"narrower", 1},
                   {"repeats", 100},
                   {"slowest", 0},
                   {"threads", 0}},
      .answer = bench::answer_by_runs([](const std::string& of, const bench::Json& settings) {
        return std::make_unique<PreparedNetwork>(of, settings);
      })};
  for (const Network& known : networks()) made.cases.push_back(known.name);
  return made;
}

}  // namespace
}  // namespace luminal

int main(int argc, char** argv) {
  return luminal::bench::bench_main(luminal::contestant(), argc, argv);
}
