#include "luminal/search/cuts/plan_cost.h"

#include <algorithm>
#include <limits>

#include "luminal/base/hash.h"
#include "luminal/kernel/recognise/forms.h"

namespace luminal::search {

using kernel::Choice;
using kernel::ClassId;
using kernel::Term;

namespace {

// Bytes of local buffers that most kernels need at least per element of a row.
constexpr int64_t kFewBuffersBytes = 8;

// Maximum instances of a kernel in a graph of so many choices. A move lowers a kernel again, so
// planning takes time in proportion to choices and the size of kernels. One more layer must not
// change how the others are planned, so up to some twenty layers of BERT, unrolled, the limit is
// unchanged. Up to 16,384 choices everything that fuses in a layer still does (attention is about
// 60 instances); with more, kernels shrink as far as needed.
int most_instances(size_t choices, int limit) {
  constexpr size_t kFewChoices = 2048;
  constexpr size_t kMostLowered = 1 << 21, kOfALayer = 128, kLeast = 24;
  if (choices <= kFewChoices) return limit;
  const size_t most = std::clamp(kMostLowered / choices, kLeast, kOfALayer);
  return std::min(limit, static_cast<int>(most));
}

// An op and three operands in memory.
constexpr size_t kInstancesPerOp = 4;

// A model runs at least so often for each time its weights are set.
constexpr double kRunsPerLoad = 1e3;
// What a kernel that runs once must save each run.
constexpr double kOnceSeconds = 2e-7;

}  // namespace

bool may_count_once(const kernel::Kernel& kernel, const SearchOptions& options) {
  return may_run_once(kernel, options.sizes) &&
         (options.costs != nullptr || !widens_format(kernel));
}

double seconds_if_once(double seconds) { return kOnceSeconds + seconds / kRunsPerLoad; }

double kernel_seconds(const kernel::LoweredKernel& lowered, const SearchOptions& options) {
  if (options.costs != nullptr) return options.costs->seconds(lowered);
  return seconds(lowered, options.machine, options.sizes);
}

PlanCost::PlanCost(const kernel::TermGraph& graph, const PlanRequest& request,
                   const SearchOptions& options)
    : graph_(graph),
      loops_(request.loops),
      weights_(request.weights),
      options_(options),
      is_live_(graph.classes.size(), false),
      forced_(graph.classes.size(), false),
      required_(graph.classes.size(), false),
      limits_(options.limits),
      chosen_(choose_terms(graph, options.sizes)),
      may_be_again_(graph.classes.size(), false),
      may_change_(graph.classes.size(), false),
      cones_(graph) {
  for (uint32_t i = 0; i < graph.classes.size(); ++i) {
    const auto& terms = graph.classes[i].terms;
    if (terms.size() > 1 && std::all_of(terms.begin(), terms.end(), is_view)) {
      flexible_.push_back(ClassId{i});
    }
  }
  for (ClassId id : request.stored) required_[id.index()] = true;
  for (const HostNeed& step : request.host_steps) {
    for (ClassId id : step.operands) required_[id.index()] = true;
  }
  forced_ = required_;
  // Only classes that the request needs are live.
  const Choice choice = choice_for(forced_);
  std::vector<bool> seen(graph.classes.size(), false);
  std::vector<ClassId> stack;
  for (size_t i = 0; i < forced_.size(); ++i) {
    if (forced_[i]) stack.push_back(ClassId{static_cast<uint32_t>(i)});
  }
  while (!stack.empty()) {
    const ClassId id = stack.back();
    stack.pop_back();
    if (seen[id.index()]) continue;
    seen[id.index()] = true;
    const Term& term = graph.at(id).terms[static_cast<size_t>(choice.term[id.index()])];
    for (ClassId operand : kernel::operands(term)) stack.push_back(operand);
    force_reads(id, term);
  }
  terms_ = TermChoices(graph, chosen_, {.seen = seen, .stored = forced_, .absent = request.absent});
  find_live(request, seen);
  for (const TermFlip& fixed : options.fixed_terms) {
    terms_.fix(fixed.id, fixed.term);
    chosen_.term[fixed.id.index()] = fixed.term;
  }
  for (ClassId id : flexible_) {
    may_change_[id.index()] = true;
    for (const Term& term : graph.at(id).terms) {
      chosen_by_[std::get<kernel::ReindexTerm>(term).operand].push_back(id);
    }
  }
  limits_.walk.most_instances = most_instances(live_.size(), options.limits.walk.most_instances);
  too_large_.seconds = std::numeric_limits<double>::infinity();
  too_large_.why = "too many instances";
}

void PlanCost::force_reads(ClassId id, const Term& term) {
  if (std::holds_alternative<kernel::StoreAtTerm>(term)) forced_[id.index()] = true;
  // A gather reads at data-dependent indices, so its data must be in memory.
  if (const auto* gather = std::get_if<kernel::GatherTerm>(&term)) {
    if (may_be_stored(gather->data)) forced_[gather->data.index()] = true;
  }
}

// `seen` is by class: what a plan needs with the terms that classes have at first.
void PlanCost::find_live(const PlanRequest& request, const std::vector<bool>& seen) {
  const std::vector<bool>& reached = terms_.reached();
  for (uint32_t i = 0; i < reached.size(); ++i) {
    const ClassId id{i};
    if (!reached[i] || seen[i]) continue;
    force_reads(id, term_of(id));
  }
  for (ClassId id : terms_.open()) {
    for (int t : terms_.of(id)) force_reads(id, graph_.at(id).terms[static_cast<size_t>(t)]);
    may_change_[id.index()] = true;
  }
  for (ClassId id : request.apart) {
    if (reached[id.index()] && may_be_stored(id)) forced_[id.index()] = true;
  }
  find_again(request);
  std::vector<bool> inside(reached.size(), false);
  for (ClassId id : request.inside) inside[id.index()] = true;
  split_chains(seen, inside);
  for (uint32_t i = 0; i < reached.size(); ++i) {
    const ClassId id{i};
    if (required_[i] && !is_source(id)) roots_.push_back(id);
    if (!reached[i] || forced_[i] || inside[i] || !may_be_stored(id)) continue;
    live_.push_back(id);
    is_live_[i] = may_change_[i] = true;
  }
}

// Results and live values: not what has to be in memory because of how it is read or computed.
void PlanCost::find_again(const PlanRequest& request) {
  for (uint32_t i = 0; i < forced_.size(); ++i) {
    const ClassId id{i};
    may_be_again_[i] = terms_.reached()[i] && may_be_stored(id) && !is_source(id) &&
                       !std::holds_alternative<kernel::StoreAtTerm>(term_of(id));
  }
  for (const auto* apart : {&request.boundaries, &request.apart}) {
    for (ClassId id : *apart) may_be_again_[id.index()] = false;
  }
}

// Decides about long runs of element-wise ops.
void PlanCost::split_chains(const std::vector<bool>& needed, std::vector<bool>& inside) {
  // Limits this small occur only in tests of kernels that can't hold what they should.
  const auto most_instances = static_cast<size_t>(options_.limits.walk.most_instances);
  const bool fits = kInstancesPerOp * options_.chain_ops <= most_instances;
  holds_piece_.assign(graph_.classes.size(), false);
  if (options_.fusion == FusionPolicy::Never || !fits) return;
  ChainPieces pieces = split_long_chains(graph_, chosen_, needed, forced_, options_.chain_ops);
  for (ClassId id : pieces.inside) inside[id.index()] = true;
  for (ClassId id : pieces.ends) {
    forced_[id.index()] = true;
    inside[id.index()] = false;
  }
  for (ClassId id : pieces.roots) holds_piece_[id.index()] = true;
  chain_ends_ = std::move(pieces.ends);
}

// Pieces of long chains stay in one kernel, however many choices the graph has.
kernel::WalkLimits PlanCost::walk_limits(ClassId root) const {
  return holds_piece_[root.index()] ? options_.limits.walk : limits_.walk;
}

// Loads, constants, index values and views of anything are never worth storing.
bool PlanCost::may_be_stored(ClassId id) const {
  const auto computes = [](const Term& term) { return !is_view(term) && !costs_nothing(term); };
  const std::vector<int>& terms = terms_.of(id);
  return computes(term_of(id)) || std::ranges::any_of(terms, [&](int t) {
           return computes(graph_.at(id).terms[static_cast<size_t>(t)]);
         });
}

kernel::SourceId PlanCost::source_of(ClassId id) const {
  for (const Term& term : graph_.at(id).terms) {
    if (const auto* load = std::get_if<kernel::LoadTerm>(&term)) return load->source;
  }
  return {};
}

// For a class with only views: the one whose source is nearest to memory.
int PlanCost::best_term(ClassId id, const std::vector<bool>& cut) const {
  auto rank = [&](const Term& term) {
    const ClassId base = std::get<kernel::ReindexTerm>(term).operand;
    if (cut[base.index()]) return 2;
    if (is_source(base)) return 3;
    const bool computes = std::any_of(graph_.at(base).terms.begin(), graph_.at(base).terms.end(),
                                      [](const Term& t) { return !is_view(t); });
    return computes ? 4 : 5;
  };
  const auto& terms = graph_.at(id).terms;
  int best = chosen_.term[id.index()];
  for (size_t t = 0; t < terms.size(); ++t) {
    if (!chosen_.is_safe(id, terms[t])) continue;
    if (rank(terms[t]) < rank(terms[static_cast<size_t>(best)])) best = static_cast<int>(t);
  }
  return best;
}

Choice PlanCost::choice_for(const std::vector<bool>& cut, const std::vector<int>& term) const {
  Choice choice{.cut = cut, .term = term};
  for (ClassId id : flexible_) choice.term[id.index()] = best_term(id, cut);
  return choice;
}

const std::vector<ClassId>& PlanCost::chosen_by(ClassId id) const {
  static const std::vector<ClassId> none;
  auto it = chosen_by_.find(id);
  return it == chosen_by_.end() ? none : it->second;
}

Result<kernel::Instances> PlanCost::instances_of(ClassId root, const Choice& choice) const {
  std::vector<std::vector<Expr>> factors;
  for (Expr dim : graph_.at(root).dims) factors.push_back({dim});
  auto instances = kernel::walk(graph_, choice, root, factors, walk_limits(root));
  if (!instances) return instances;
  const auto refined = kernel::refine(graph_, *instances, root);
  const std::vector<int> order = kernel::loop_order(graph_, *instances, root);
  if (refined != factors || !order.empty()) {
    auto split = kernel::walk(graph_, choice, root, refined, walk_limits(root), order);
    if (split) instances = std::move(split);
  }
  return instances;
}

// Attention that is split over keys (flash decoding) has local buffers for one range of keys,
// however many keys there are, so the limit doesn't apply to it.
Result<kernel::LoweredKernel> PlanCost::staged(ClassId root, const kernel::Instances& instances,
                                               int n_outer) const {
  const kernel::StageLimits& limits = limits_;
  const bool long_rows = std::ranges::any_of(instances.loops, [&](const auto& loop) {
    return loop.extent.upper_bound() > limits.most_local_bytes / kFewBuffersBytes;
  });
  if (long_rows) {
    kernel::StageLimits wide = limits;
    wide.most_local_bytes = INT64_MAX / 4;
    auto lowered = kernel::stage(graph_, root, instances, n_outer, wide);
    if (lowered && kernel::forms_of(lowered->kernel).split) return lowered;
  }
  return kernel::stage(graph_, root, instances, n_outer, limits);
}

CostedKernel PlanCost::lower(ClassId root, const Choice& choice) const {
  CostedKernel best;
  best.seconds = std::numeric_limits<double>::infinity();
  const auto instances = instances_of(root, choice);
  if (!instances) {
    best.why = instances.why();
    return best;
  }
  // Without inner loops, fewer outer loops only reduce parallelism.
  const bool pointwise =
      static_cast<int>(instances->loops.size()) == instances->n_root_loops &&
      std::none_of(instances->list.begin(), instances->list.end(),
                   [](const kernel::Instance& instance) { return instance.reduce_loop.valid(); });
  for (int n_outer = instances->n_root_loops; n_outer >= 0; --n_outer) {
    if (pointwise && best.lowered) break;
    auto lowered = staged(root, *instances, n_outer);
    if (!lowered) {
      best.why = lowered.why();
      continue;
    }
    const double time = kernel_seconds(*lowered, options_);
    if (time < best.seconds * (1 - 1e-9)) {
      best.seconds = time;
      best.lowered = std::move(*lowered);
    }
  }
  if (best.lowered) best.why.clear();
  return best;
}

std::vector<kernel::LoweredKernel> PlanCost::variants(ClassId root, const Choice& choice) const {
  std::vector<kernel::LoweredKernel> result;
  const auto instances = instances_of(root, choice);
  if (!instances) return result;
  for (int n_outer = instances->n_root_loops; n_outer >= 0; --n_outer) {
    auto lowered = staged(root, *instances, n_outer);
    if (lowered) result.push_back(std::move(*lowered));
  }
  return result;
}

size_t PlanCost::FormHash::operator()(const std::vector<uint32_t>& form) const {
  uint64_t hash = form.size();
  for (uint32_t part : form) hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
  return base::mix(hash);
}

KernelForm PlanCost::make_form(const Cone& cone, const Choice& choice) const {
  KernelForm form{lower(cone.classes.front(), choice), cone.classes, {}, {}};
  if (!form.lowered) return form;
  const kernel::Kernel& kernel = form.lowered->kernel;
  for (kernel::ParamId p : form.lowered->origins.ids()) {
    const kernel::ParamOrigin& origin = form.lowered->origins[p];
    const auto at = std::find(form.classes.begin(), form.classes.end(), origin.value);
    const auto position = static_cast<uint32_t>(at - form.classes.begin());
    if (!kernel.params[p].output) form.inputs.push_back(position);
    if (origin.source.valid() || origin.value == cone.classes.front()) continue;
    if (is_source(*at)) continue;  // a source: no kernel computes it
    form.reads.push_back(position);
  }
  form.is_elementwise = std::ranges::none_of(cone.classes, [&](ClassId id) {
    const Term& term = graph_.at(id).terms[static_cast<size_t>(choice.term[id.index()])];
    const bool reduces = std::holds_alternative<kernel::ReduceTerm>(term) ||
                         std::holds_alternative<kernel::ScanTerm>(term) ||
                         std::holds_alternative<kernel::GatherTerm>(term);
    return reduces && !choice.reads(cone.classes.front(), id);
  });
  form.may_run_once = may_count_once(kernel, options_);
  return form;
}

double PlanCost::charged(ClassId root, const PlacedKernel& kernel) const {
  const KernelForm& form = *kernel.form;
  const bool once = form.may_run_once && weights_.knows() && !weights_.is_result(root) &&
                    std::ranges::all_of(form.inputs, [&](uint32_t position) {
                      return weights_.is_weight(kernel.classes[position]);
                    });
  return once ? seconds_if_once(form.seconds) : form.seconds;
}

PlacedKernel PlanCost::place(ClassId root, const Choice& choice) {
  const Cone& cone = cones_.read(root, choice, walk_limits(root).most_instances);
  if (cone.too_large) return {&too_large_, {}, too_large_.seconds};
  auto it = forms_.find(cone.form);
  if (it == forms_.end()) {
    auto form = std::make_unique<KernelForm>(make_form(cone, choice));
    it = forms_.emplace(cone.form, std::move(form)).first;
  }
  PlacedKernel placed{it->second.get(), cone.classes};
  placed.seconds = charged(root, placed);
  return placed;
}

// The kernel of a form, renamed to the classes of one of its cones.
NamedKernel PlanCost::renamed(const PlacedKernel& kernel) const {
  NamedKernel result{*kernel.form, kernel.seconds};
  if (!result.lowered) return result;
  std::map<ClassId, ClassId> names;
  for (size_t i = 0; i < kernel.classes.size(); ++i) {
    names.emplace(kernel.form->classes[i], kernel.classes[i]);
  }
  for (kernel::ParamOrigin& origin : result.lowered->origins) {
    origin.value = names.at(origin.value);
    if (origin.source.valid()) origin.source = source_of(origin.value);
  }
  for (ClassId& id : result.lowered->classes) id = names.at(id);
  std::sort(result.lowered->classes.begin(), result.lowered->classes.end());
  return result;
}

CostedPlan PlanCost::cost(const Choice& choice) {
  CostedPlan plan;
  if (terms_.has_cycle(choice.term)) {
    plan.why = kTermsInACycle;
    plan.seconds = std::numeric_limits<double>::infinity();
    return plan;
  }
  std::vector<ClassId> needed = roots_;
  while (!needed.empty()) {
    const ClassId id = needed.back();
    needed.pop_back();
    if (plan.kernels.contains(id)) continue;
    PlacedKernel placed = place(id, choice);
    if (!placed.form->lowered) {
      plan.why = placed.form->why;
      plan.seconds = std::numeric_limits<double>::infinity();
      return plan;
    }
    for (uint32_t position : placed.form->reads) needed.push_back(placed.classes[position]);
    const auto key = std::make_pair(placed.form, placed.classes);
    auto known = kernels_.find(key);
    if (known == kernels_.end()) known = kernels_.emplace(key, renamed(placed)).first;
    plan.kernels.emplace(id, &known->second);
    plan.seconds += known->second.charged * times(id);
  }
  return plan;
}

}  // namespace luminal::search
