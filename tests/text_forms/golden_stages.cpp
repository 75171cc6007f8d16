// What the compiler makes of the inputs, stage by stage.
#include <fmt/format.h>

#include <stdexcept>

#include "luminal/backends/cpu/schedule/schedule.h"
#include "luminal/backends/cpu/schedule/schedule_text.h"
#include "luminal/driver/options/machine_peaks.h"
#include "luminal/driver/plan/planned_terms.h"
#include "luminal/graph/text_form.h"
#include "luminal/graph/traverse.h"
#include "luminal/graph/verify.h"
#include "luminal/kernel/ir/kernel_text.h"
#include "luminal/kernel/lower/term_text.h"
#include "luminal/kernel/plan/plan_text.h"
#include "luminal/kernel/recognise/work.h"
#include "luminal/machine/peaks.h"
#include "luminal/search/pipeline/rotation_planner.h"
#include "tests/text_forms/golden_case.h"

namespace luminal::golden {
namespace {

// "s=128,t=4"
Bindings sizes_of(const Case& given) {
  Bindings sizes;
  std::string text = given.option("sizes");
  while (!text.empty()) {
    const size_t equals = text.find('='), end = std::min(text.find(','), text.size());
    sizes.set(text.substr(0, equals), std::stoll(text.substr(equals + 1, end - equals - 1)));
    text.erase(0, end + 1);
  }
  return sizes;
}

FusionPolicy fusion_of(const Case& given, const std::string& usual) {
  const std::string name = given.option("fusion", usual);
  if (name == "always") return FusionPolicy::Always;
  if (name == "never") return FusionPolicy::Never;
  return FusionPolicy::Modelled;
}

search::PlanningOptions options_of(const Case& given, const Graph& graph, const char* fusion) {
  search::PlanningOptions options;
  options.search.fusion = fusion_of(given, fusion);
  options.search.sizes = search::representative_sizes(variables(graph), sizes_of(given));
  return options;
}

std::unique_ptr<Graph> graph_of(const Case& given) {
  auto graph = parse_graph(given.input, given.file.filename().string());
  verify(*graph);
  return graph;
}

// Described, not asked for: the same on every machine that tests run on.
backends::cpu::Target target_of(const std::string& name) {
  backends::cpu::Target target;
  target.name = name;
  target.x86 = true;
  const bool amx = name == "amx";
  target.avx512 = amx || name == "avx512" || name == "vnni";
  target.avx512_vnni = amx || name == "vnni";
  target.avx512_bf16 = target.amx_bf16 = target.amx_int8 = amx;
  target.vector_bytes = target.avx512 ? 64 : name == "avx2" ? 32 : 16;
  if (!target.avx512 && name != "avx2" && name != "sse2") {
    throw std::runtime_error("there is no target " + name);
  }
  return target;
}

kernel::Kernel kernel_of(const Case& given) {
  kernel::Kernel made = kernel::parse_kernel(given.input, given.file.filename().string());
  kernel::finish(made);
  return made;
}

}  // namespace

std::string terms_of(const Case& given) {
  const std::unique_ptr<Graph> graph = graph_of(given);
  const search::PlanningOptions options = options_of(given, *graph, "modelled");
  const std::vector<NodeId> needed = roots(*graph);
  search::PhaseResults results;
  run_phases(search::Phase::Extracted, {*graph, needed, options}, results);
  std::string chosen = "chosen";
  for (size_t c = 0; c < results.chosen.term.size(); ++c) {
    if (results.extracted.graph.classes[c].terms.size() < 2) continue;
    chosen += fmt::format(" c{}:{}", c, results.chosen.term[c]);
  }
  return text(results.extracted.graph) + chosen + "\n";
}

std::string lowered(const Case& given) {
  const std::unique_ptr<Graph> graph = graph_of(given);
  const search::PlanningOptions options = options_of(given, *graph, "always");
  const std::vector<NodeId> needed = roots(*graph);
  search::PhaseResults results;
  run_phases(search::Phase::Planned, {*graph, needed, options}, results);
  std::string out;
  for (const auto& step : results.found.plan.steps) {
    const auto* made = std::get_if<kernel::KernelStep>(&step);
    out += made != nullptr ? text(made->lowered.kernel) : std::string("host step\n");
  }
  return out;
}

std::string planned(const Case& given) {
  const std::unique_ptr<Graph> graph = graph_of(given);
  search::PlanningOptions options = options_of(given, *graph, "modelled");
  const int threads = std::stoi(given.option("threads", "2"));
  options.search.machine =
      machine_model(machine::default_peaks(given.option("target", "avx512"), threads));
  const std::vector<NodeId> needed = roots(*graph);
  std::vector<search::RotationPlanner> planners =
      search::rotation_planners(*graph, needed, options);
  search::RotationPlanner& planner = planners.front();
  planner.lower();
  planner.saturate();
  planner.search();
  planner.finish({});
  return text(*planned_graph(planner.planned()));
}

std::string scheduled(const Case& given) {
  const kernel::Kernel kernel = kernel_of(given);
  std::string out;
  std::string names = given.option("target", "avx512 avx2") + " ";
  for (size_t end; (end = names.find(' ')) != std::string::npos; names.erase(0, end + 1)) {
    const std::string name = names.substr(0, end);
    out += "target " + name + "\n" + text(make_schedule(kernel, target_of(name), {}));
  }
  return out;
}

std::string costs_of(const Case& given) {
  const kernel::Kernel kernel = kernel_of(given);
  const Bindings sizes = search::representative_sizes(kernel.variables, sizes_of(given));
  const search::LeastWork work = search::least_work(kernel, sizes);
  std::string out = fmt::format("bytes {}, products {}, exact products {}, other flops {}\n",
                                work.bytes, work.products, work.exact_products, work.other_flops);
  for (const char* target : {"avx512", "avx2", "sse2"}) {
    for (int threads : {1, 2, 8}) {
      const search::MachineModel machine = machine_model(machine::default_peaks(target, threads));
      out += fmt::format("{} × {}: {:.4g} µs\n", target, threads,
                         search::seconds(kernel, machine, sizes) * 1e6);
    }
  }
  return out;
}

}  // namespace luminal::golden
