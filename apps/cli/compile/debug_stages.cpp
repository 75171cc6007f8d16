#include "apps/cli/compile/debug_stages.h"

#include "apps/cli/terminal/progress_line.h"
#include "apps/inspect/debug/stages.h"
#include "luminal/base/errors.h"
#include "luminal/driver/compile/make_plan.h"
#include "luminal/driver/options/variants.h"
#include "luminal/graph/verify.h"
#include "luminal/io/load_weights.h"

namespace luminal::cli {
namespace {

using debug::DebugReport;
using debug::Subject;

// Enough rows for vectors, blocks and remainders, few enough to interpret.
constexpr int64_t kTypical = 19;

NamedGraph open_case(const DebugCase& named, CompileOptions options) {
  NamedGraph opened{named.name, std::make_unique<Graph>(), std::move(options)};
  named.build(*opened.graph);
  if (named.rules != nullptr) {
    opened.options.plan.rules.push_back({std::string(named.name) + ".egg", named.rules});
  }
  if (named.disabled_group != nullptr) {
    opened.options.plan.disable_rules.push_back(named.disabled_group);
  }
  return opened;
}

// A failure to open is caught; other errors propagate.
std::optional<NamedGraph> open(const std::string& path, const DebugCase* named,
                               const CompileOptions& compile, const ModelShape& model,
                               DebugReport& report) {
  report.name = named != nullptr ? named->name : path;
  try {
    return named != nullptr ? open_case(*named, compile) : open_graph(path, model, compile);
  } catch (const WeightsError& error) {
    debug::DebugStage& stage = report.begin("graph");
    const bool missing = !error.missing().empty();
    stage.blame(missing ? "missing-weight" : "wrong-data")
        .add("op", missing ? error.missing().front() : "")
        .add("missing", error.missing())
        .add("why", std::string(error.what()))
        .add("way_out", std::string("look for the weight under another name, or in another file"));
  } catch (const UserError& error) {
    report.begin("graph")
        .blame("graph-refused")
        .add("why", std::string(error.what()))
        .add("way_out", std::string("correct the file at that place"));
  }
  return std::nullopt;
}

// debug-ops examines the CPU backend only.
void check(const BackendOptions& backend) {
  if (backend.name != "cpu") {
    throw UserError("debug-ops looks at the backend 'cpu', not '" + backend.name + "'");
  }
}

// The data contained in the graph, loaded once for all runs.
std::map<NodeId, TensorData> own_data(const Graph& graph) {
  std::map<NodeId, TensorData> loaded;
  for (NodeId leaf : graph.leaves()) {
    if (std::optional<TensorData> data = graph.data(leaf)) loaded.emplace(leaf, std::move(*data));
  }
  return loaded;
}

// The variable values for running a variant: the given ones, if they are in its ranges.
Bindings sizes_of(const Variants& variants, size_t v, const Graph& narrowed,
                  const Bindings& given) {
  const Bindings of_variant = variants.sizes(v, given);
  Bindings sizes;
  for (const auto& [name, value] : given.items()) {
    const std::optional<int64_t> own = of_variant.find(name);
    // A variable with a single value in the variant is no variable of it.
    bool known = variants.count() == 1;
    for (Expr variable : variables(narrowed)) known = known || variable.name() == name;
    if (known) sizes.set(name, variants.count() > 1 && own ? *own : value);
  }
  return sizes;
}

}  // namespace

DebugReport debug_stages(const std::string& path, const DebugCase* named,
                         const CompileOptions& compile, const DebugStagesOptions& options) {
  check(compile.backend);
  DebugReport report;
  const std::optional<NamedGraph> opened = open(path, named, compile, options.model, report);
  if (!opened) return report;
  ProgressLine line;
  const std::shared_ptr<const Graph> graph = opened->graph->clone();
  const Variants variants(variables(*graph), opened->options.plan.variants);
  const Bindings given = options.leaves.sizes(*graph, kTypical, opened->sizes);
  const std::map<NodeId, TensorData> loaded = own_data(*graph);
  for (size_t v = 0; v < variants.count(); ++v) {
    Subject subject{.name = opened->name,
                    .graph = variants.narrowed(v, graph),
                    .plan = variants.text(v),
                    .options = options_of_variant(
                        opened->options, variants.sizes(v, opened->options.plan.typical_sizes),
                        variants.count()),
                    .sizes = {},
                    .given = {},
                    .most_operations = options.operations};
    subject.sizes = sizes_of(variants, v, *subject.graph, given);
    subject.options.plan.variants.clear();
    if (named != nullptr && named->most_instances > 0) {
      subject.plant = [named](search::PlanningOptions& of) {
        of.search.limits.walk.most_instances = named->most_instances;
      };
    }
    try {
      subject.given = options.leaves.data(*subject.graph, subject.sizes, options.seed);
      subject.given.insert(loaded.begin(), loaded.end());
    } catch (const UserError& error) {
      // Sizes that don't fit are reported by look_at_graph.
      if (debug::look_at_graph(subject, report)) {
        report.begin("data", subject.plan)
            .blame("wrong-data")
            .add("why", std::string(error.what()))
            .add("way_out", std::string("give data of the leaf's dtype and dims"));
      }
      continue;
    }
    debug::debug(subject, options.until, report, [&](const std::string& stage) {
      if (line.due()) line.show(stage);
    });
  }
  return report;
}

}  // namespace luminal::cli
