// compile(), stage by stage: the path of a program.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "luminal/backends/registry.h"
#include "luminal/base/check.h"
#include "luminal/base/digest.h"
#include "luminal/base/errors.h"
#include "luminal/base/os_limits.h"
#include "luminal/driver/compile.h"
#include "luminal/driver/compile_parts.h"
#include "luminal/driver/executable_impl.h"
#include "luminal/driver/fusion/decide_fusion.h"
#include "luminal/driver/load_data.h"
#include "luminal/driver/load_options.h"
#include "luminal/driver/machine_peaks.h"
#include "luminal/driver/make_plan.h"
#include "luminal/driver/no_plan.h"
#include "luminal/driver/planning.h"
#include "luminal/graph/text_form.h"
#include "luminal/graph/traverse.h"
#include "luminal/graph/verify.h"
#include "luminal/kernel/plan_bytes.h"
#include "luminal/kernel/verify_plan.h"
#include "luminal/search/cost_model.h"
#include "luminal/shape/resolve_dims.h"

namespace luminal {
namespace {

// A user without a home still compiles, and is told.
std::filesystem::path kept_in(const std::string& option, CompileReport& report) {
  try {
    return cache_folder(option);
  } catch (const UserError& error) {
    report.notes.push_back(
        fmt::format("plans and compiled kernels are not kept: {}", error.what()));
    return {};
  }
}

std::vector<std::unique_ptr<runtime::Program>> load(
    const backends::Backend& backend, const std::vector<backends::LoadRequest>& requests,
    CompiledParts* made, CompileReport& report) {
  const auto start = std::chrono::steady_clock::now();
  backends::LoadReport loaded;
  std::vector<std::unique_ptr<runtime::Program>> programs = backend.load(requests, &loaded);
  if (made != nullptr) made->code = std::move(loaded.code.at(0));
  int cached = 0, by_library = 0;
  for (size_t i = 0; i < loaded.kernels.size(); ++i) {
    backends::KernelListing& listing = loaded.kernels[i];
    KernelReport& kernel = report.kernels[i];
    kernel.compile_ms = listing.compile_ms;
    kernel.from_cache = listing.from_cache;
    kernel.launch = listing.launch;
    kernel.slow_paths = std::move(listing.slow_paths);
    kernel.low_level = std::move(listing.low_level);
    kernel.assembly = std::move(listing.assembly);
    cached += kernel.from_cache;
    by_library += kernel.by_library;
  }
  report.notes.insert(report.notes.end(), loaded.notes.begin(), loaded.notes.end());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  end_stage(report, "kernels", taken.count(),
            fmt::format("{} compiled, {} from the cache{}",
                        loaded.kernels.size() - static_cast<size_t>(cached + by_library), cached,
                        by_library > 0 ? fmt::format(", {} by a library", by_library) : ""),
            [&] {
              std::string text;
              for (const KernelReport& kernel : report.kernels) {
                if (kernel.low_level) text += kernel.low_level();
              }
              return text;
            });
  return programs;
}

// Sizes that don't fit together (s - 4 at s = 2) have no memory to tell of.
void report_memory(runtime::Program& program, const Bindings& sizes, CompileReport& report) {
  MemoryReport entry{.sizes = text(sizes), .kept = {}};
  try {
    const runtime::MemoryUse use = program.plan_memory(sizes, true);
    entry.peak = use.arena;
    entry.unshared = use.unshared;
    entry.folded = use.folded;
    for (const auto& value : use.kept) {
      entry.kept.push_back(fmt::format("{}, {} bytes", value.name, value.bytes));
    }
    report.memory.push_back(std::move(entry));
  } catch (const UserError& error) {
    report.notes.push_back(
        fmt::format("memory at {} can't be planned: {}", entry.sizes, error.what()));
  }
}

std::shared_ptr<const kernel::PlannedGraph> plan_or_explain(const backends::LoadRequest& request,
                                                            const backends::Backend& backend,
                                                            const CompileOptions& options,
                                                            PlanCache& cache,
                                                            CompileReport& report) {
  try {
    return make_plan(request, backend, backend.packing(request.options), options, cache, report);
  } catch (const InternalError& error) {
    throw_no_plan(*request.graph, options, error);
  }
}

// Before the plan, which is asked for with what was decided.
void report_fusion(const Graph& graph, const CompileOptions& options, const std::string& variant,
                   CompileReport& report) {
  FusionDecisions decided = decide_fusion(graph, options);
  for (FusionReport& entry : decided.reports) {
    entry.variant = variant;
    report.fusion.push_back(std::move(entry));
  }
  for (std::string& note : decided.notes) {
    const bool known =
        std::find(report.notes.begin(), report.notes.end(), note) != report.notes.end();
    if (!known) report.notes.push_back(std::move(note));
  }
}

std::shared_ptr<const kernel::PlannedGraph> read_given_plan(const CompiledParts& given,
                                                            const Graph& graph,
                                                            CompileReport& report) {
  const auto start = std::chrono::steady_clock::now();
  shape::ExprReader reader(given.plan);
  auto planned = std::make_shared<kernel::PlannedGraph>(kernel::read_plan(reader));
  reader.in.finish();
  if (const std::string why = kernel::verify_plan(*planned, graph, roots(graph)); !why.empty()) {
    throw base::ByteError(why);
  }
  for (int k = 0; k < planned->plan.n_kernels(); ++k) {
    KernelReport kernel;
    kernel.name = fmt::format("kernel {}", k);
    report.kernels.push_back(std::move(kernel));
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  end_stage(report, "plan", taken.count(), plan_summary(*planned) + ", as given",
            [&] { return plan_text(*planned); });
  return planned;
}

// One per variant, with its plan on backends that run plans.
std::vector<backends::LoadRequest> requests_for(const std::shared_ptr<const Graph>& graph,
                                                const backends::PortMap& ports,
                                                const Variants& variants,
                                                const backends::Backend& backend,
                                                const CompileOptions& options,
                                                const PartsUse& parts, CompileReport& report) {
  const std::filesystem::path folder = kept_in(options.cache_folder, report);
  PlanCache plans(backend.runs_plans() ? folder : std::filesystem::path(), options.cache_bytes);
  std::vector<backends::LoadRequest> requests;
  for (size_t v = 0; v < variants.count(); ++v) {
    const CompileOptions of_variant =
        options_of_variant(options, variants.sizes(v, options.typical_sizes), variants.count());
    backends::LoadRequest request;
    request.graph = variants.narrowed(v, graph);
    request.ports = ports;
    request.options = load_options(options, *graph, of_variant.typical_sizes, folder);
    request.options.float64 = options.float64;
    request.options.keep_code = parts.made != nullptr;
    if (options.progress) {
      request.progress = [progress = options.progress](int done, int total) {
        progress({"kernels", done, total});
      };
    }
    if (backend.runs_plans()) {
      PlanReport plan{.variant = variants.text(v),
                      .sizes = text(request.options.typical_sizes),
                      .first_kernel = report.kernels.size()};
      if (parts.given != nullptr) {
        request.planned = read_given_plan(*parts.given, *request.graph, report);
        request.code = std::make_shared<const std::string>(parts.given->code);
      } else {
        report_fusion(*request.graph, of_variant, plan.variant, report);
        request.planned = plan_or_explain(request, backend, of_variant, plans, report);
      }
      plan.n_kernels = report.kernels.size() - plan.first_kernel;
      plan.model_us = request.planned->plan.model_seconds * 1e6;
      report.plans.push_back(std::move(plan));
    }
    requests.push_back(std::move(request));
  }
  const std::vector<std::string> notes = plans.notes();
  report.notes.insert(report.notes.end(), notes.begin(), notes.end());
  return requests;
}

// A program's ports, with the dims that the graph has for them whatever the variant.
std::vector<runtime::Port> ports_of(const runtime::Program& program, const Graph& graph,
                                    const backends::PortMap& map) {
  std::vector<runtime::Port> ports = program.ports();
  for (size_t i = 0; i < ports.size(); ++i) {
    const size_t n_leaves = map.leaves.size();
    ports[i].dims = graph.node(i < n_leaves ? map.leaves[i] : map.results[i - n_leaves]).dims;
  }
  return ports;
}

// The report lists the kernels of all variants, one after the other.
std::vector<std::shared_ptr<const StepNotes>> notes_on(
    const std::vector<backends::LoadRequest>& requests, const std::vector<KernelReport>& kernels) {
  std::vector<std::shared_ptr<const StepNotes>> notes;
  auto first = kernels.begin();
  for (const backends::LoadRequest& request : requests) {
    const auto last = first + request.planned->plan.n_kernels();
    notes.push_back(step_notes(*request.graph, request.planned, {first, last}));
    first = last;
  }
  return notes;
}

}  // namespace

Executable compile(const Graph& graph, const CompileOptions& options) {
  return compile_parts(graph, options, {});
}

Executable compile_parts(const Graph& graph, const CompileOptions& options, const PartsUse& parts) {
  CompileReport unread;
  CompileReport& report = options.report != nullptr ? *options.report : unread;
  const auto start = std::chrono::steady_clock::now();
  verify(graph);
  const backends::Backend& backend = backends::find_backend(options.backend);
  std::shared_ptr<const Graph> snapshot = graph.clone();
  const std::chrono::duration<double> verified = std::chrono::steady_clock::now() - start;
  end_stage(report, "graph", verified.count(), fmt::format("{} nodes", graph.size()),
            [&] { return print_graph(graph); });

  auto impl = std::make_unique<Executable::Impl>();
  impl->graph = snapshot;
  impl->source = graph.home();
  impl->variables = variables(*snapshot);
  impl->view_checks = std::make_shared<const ViewChecks>(*snapshot);
  impl->variants = Variants(impl->variables, options.variants);
  if (parts.given != nullptr || parts.made != nullptr) {
    LUMINAL_CHECK(impl->variants.count() == 1 && backend.runs_plans(),
                  "only one plan, of a backend that has plans, can be kept");
  }
  impl->memory_limit =
      options.memory_limit > 0 ? options.memory_limit : base::cgroup_limits().memory.value_or(0);

  const backends::PortMap ports = {.leaves = snapshot->leaves(), .results = run_results(*snapshot)};
  // Reading weights doesn't wait for their kernels, unless there may be none to wait for.
  const int beside = report.stop_after.empty() ? threads_of(options) - 1 : 0;
  DataLoading loading(*snapshot, ports.leaves, beside);
  const std::vector<backends::LoadRequest> requests =
      requests_for(snapshot, ports, impl->variants, backend, options, parts, report);
  report.target = backend.target(requests.front().options);
  if (backend.runs_plans()) report.machine = machine_text(machine_peaks(options));
  if (options.report != nullptr) report.graph = base::digest(print_graph(*snapshot));
  impl->programs = load(backend, requests, parts.made, report);
  if (parts.made != nullptr) {
    shape::ExprWriter plan;
    kernel::write_plan(plan, *requests.front().planned);
    parts.made->plan = plan.bytes();
  }
  if (backend.runs_plans()) {
    for (size_t v = 0; v < requests.size(); ++v) {
      report_memory(*impl->programs[v], requests[v].options.typical_sizes, report);
    }
    impl->notes = notes_on(requests, report.kernels);
  }
  impl->port_list = ports_of(*impl->programs.front(), *snapshot, ports);
  impl->slots.resize(impl->ports().size());
  impl->buffers.resize(impl->ports().size());
  if (impl->variables.empty()) impl->check_memory(*impl->programs.front(), {});
  for (size_t i = 0; i < ports.leaves.size(); ++i) impl->leaf_port[ports.leaves[i]] = i;
  for (size_t i = 0; i < ports.results.size(); ++i) {
    impl->result_port[ports.results[i]] = ports.leaves.size() + i;
  }
  const auto data = loading.finish();
  for (size_t i = 0; i < data.size(); ++i) {
    if (data[i]) impl->bind_data(i, *data[i]);
  }
  return Executable(std::move(impl));
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (std::string_view name : backends::backend_names()) names.emplace_back(name);
  return names;
}

}  // namespace luminal
