#include "luminal/backends/cpu/plan/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "luminal/base/check.h"
#include "luminal/base/digest.h"
#include "luminal/kernel/ir/in_place.h"
#include "luminal/kernel/plan/folding.h"
#include "luminal/runtime/step_order.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal::backends::cpu {
namespace {

using kernel::ClassId;
using kernel::ParamId;
using kernel::StepId;
using runtime::PortId;

class RunPlanner {
 public:
  explicit RunPlanner(const LoadRequest& request)
      : request_(request), planned_(*request.planned), graph_(*request.graph) {}

  RunPlan make() {
    number_tensors();
    number_steps();
    place_results();
    place_states();
    split_off_folded();
    join_load_steps();
    find_spent_weights();
    order_run_steps();
    find_lifetimes(plan_.load_steps);
    find_lifetimes(plan_.run_steps);
    for (const RunCopy& copy : plan_.copies) {
      tensor(copy.from).last = plan_.n_launches;
      if (tensor(copy.to).home == Home::Arena) tensor(copy.to).first = plan_.n_launches;
    }
    plan_.in_place.resize(static_cast<size_t>(planned_.plan.n_kernels()));
    find_takeovers(plan_.load_steps);
    find_takeovers(plan_.run_steps);
    return std::move(plan_);
  }

 private:
  RunTensor& tensor(TensorId id) { return plan_.tensors[id]; }
  TensorId tensor_of(ClassId id) const {
    const kernel::SourceId source = planned_.source_of(id);
    return source.valid() ? source_tensor_[source] : class_tensor_.at(id);
  }
  TensorId add_tensor(RunTensor made) {
    producer_.push_back({});
    readers_.push_back({});
    return plan_.tensors.push_back(std::move(made));
  }
  TensorId port_tensor(PortId port, DType dtype, const Dims& dims, const std::string& name) {
    return add_tensor(
        {.dtype = dtype, .dims = dims, .name = name, .home = Home::Port, .port = port});
  }
  bool is_computed(TensorId id) const { return producer_[id].valid(); }
  const kernel::KernelStep& kernel_step(const RunStep& at) const {
    return std::get<kernel::KernelStep>(planned_.plan.at(at.position));
  }
  const kernel::Kernel& kernel_of(const RunStep& at) const {
    return kernel_step(at).lowered.kernel;
  }
  bool is_by_library(const RunStep& at) const {
    return at.kernel.valid() && kernel_step(at).strategy == kernel::Strategy::Library;
  }
  // Only compiled kernels may write in place.
  bool is_compiled(const RunStep& at) const { return at.kernel.valid() && !is_by_library(at); }

  void number_tensors();
  void number_steps();
  void place_results();
  void place_states();
  bool may_write_over(TensorId value, TensorId state);
  bool reaches(StepId from, StepId to) const;
  void split_off_folded();
  void join_load_steps();
  void find_spent_weights();
  std::string folded_key(const RunStep& at, ParamId output) const;
  std::string folded_name(TensorId input) const;
  void hand_to_library(RunStep& at, const IdVector<TensorId, bool>& from_weights);
  TensorId packed_for_library(const std::shared_ptr<const LibraryStep>& library, TensorId b);
  bool is_foldable(const RunStep& at, const IdVector<TensorId, bool>& from_weights) const;
  void order_run_steps();
  void find_lifetimes(const std::vector<RunStep>& steps);
  void find_takeovers(const std::vector<RunStep>& steps);
  bool shares(const RunStep& at, TensorId input, ParamId output_param) const;

  const LoadRequest& request_;
  const kernel::PlannedGraph& planned_;
  const Graph& graph_;
  RunPlan plan_;
  IdVector<StepId, RunStep> steps_;  // as planned; those of run_steps keep their numbers here
  IdVector<kernel::SourceId, TensorId> source_tensor_;
  std::map<ClassId, TensorId> class_tensor_;
  IdVector<TensorId, StepId> producer_;  // the step, if one computes it
  IdVector<TensorId, std::vector<StepId>> readers_;
  IdVector<StepId, std::vector<StepId>> after_;  // those that must come before
  std::map<std::string, TensorId> packed_;       // tensors in the library's order, by folded_key
};

void RunPlanner::number_tensors() {
  std::map<NodeId, PortId> port_of;
  for (size_t port = 0; port < request_.ports.leaves.size(); ++port) {
    port_of.emplace(request_.ports.leaves[port], PortId::at(port));
  }
  for (kernel::SourceId s : planned_.terms.sources.ids()) {
    const kernel::Source& source = planned_.terms.sources[s];
    const auto leaf = port_of.find(planned_.source_nodes[s]);
    source_tensor_.push_back(
        leaf != port_of.end()
            ? port_tensor(leaf->second, source.dtype, source.dims, source.name)
            : add_tensor({.dtype = source.dtype, .dims = source.dims, .name = source.name}));
  }
}

void RunPlanner::number_steps() {
  int kernels = 0, packing = 0;
  for (const auto& planned : planned_.plan.steps) {
    RunStep made;
    made.position = steps_.next();
    if (const auto* host = std::get_if<kernel::HostStep>(&planned)) {
      made.host = std::make_shared<HostStep>(request_, host->source);
      for (ClassId operand : made.host->operands()) made.params.push_back(tensor_of(operand));
      made.is_output.resize(made.params.size());
      made.params.push_back(source_tensor_[host->source]);
      made.is_output.push_back(true);
    } else {
      const auto& kernel_step = std::get<kernel::KernelStep>(planned);
      const kernel::LoweredKernel& lowered = kernel_step.lowered;
      const std::string made_by = kernel_step.packs.empty()
                                      ? fmt::format("the result of kernel {}", kernels - packing)
                                      : fmt::format("panels of {}", kernel_step.packs);
      made.kernel = kernel::KernelId::at(kernels++);
      packing += !kernel_step.packs.empty();
      for (ParamId p : lowered.origins.ids()) {
        const kernel::ParamOrigin& origin = lowered.origins[p];
        const kernel::Param& param = lowered.kernel.params[p];
        made.is_output.push_back(param.output);
        if (param.output) {
          made.params.push_back(
              add_tensor({.dtype = param.dtype, .dims = param.dims, .name = made_by}));
          class_tensor_[origin.value] = made.params.back();
        } else {
          made.params.push_back(origin.source.valid() ? source_tensor_[origin.source]
                                                      : tensor_of(origin.value));
        }
      }
    }
    after_.push_back({});
    for (ParamId p : made.params.ids()) {
      const TensorId id = made.params[p];
      if (made.is_output[p]) {
        producer_[id] = made.position;
        continue;
      }
      readers_[id].push_back(made.position);
      if (producer_[id].valid()) after_.back().push_back(producer_[id]);
    }
    steps_.push_back(std::move(made));
  }
}

// A computed result is written straight to its port; a leaf, or a result wanted twice, is copied.
void RunPlanner::place_results() {
  const PortMap& map = request_.ports;
  for (size_t i = 0; i < map.results.size(); ++i) {
    const NodeId node = map.results[i];
    const auto port = PortId::at(map.leaves.size() + i);
    const TensorId value = tensor_of(planned_.class_of[node.index()]);
    if (is_computed(value) && tensor(value).home == Home::Arena) {
      tensor(value).home = Home::Port;
      tensor(value).port = port;
      tensor(value).name = graph_.describe(node);
    } else {
      const TensorId to =
          port_tensor(port, tensor(value).dtype, tensor(value).dims, graph_.describe(node));
      plan_.copies.push_back({value, to});
    }
  }
}

bool RunPlanner::reaches(StepId from, StepId to) const {
  IdVector<StepId, bool> seen(steps_.size());
  std::vector<StepId> open = {to};  // worklist: follows dependencies backwards
  while (!open.empty()) {
    const StepId at = open.back();
    open.pop_back();
    if (at == from) return true;
    if (seen[at]) continue;
    seen[at] = true;
    for (StepId before : after_[at]) open.push_back(before);
  }
  return false;
}

// Whether every read of the input in this step allows the output to reuse its memory in place.
bool RunPlanner::shares(const RunStep& at, TensorId input, ParamId output_param) const {
  if (!is_compiled(at)) return false;
  for (ParamId p : at.params.ids()) {
    if (at.params[p] != input || at.is_output[p]) continue;
    if (!kernel::may_share(kernel_of(at), p, output_param)) return false;
  }
  return true;
}

// Whether a state's new value may overwrite the old one in place: every other reader of the old one
// must be able to run before the step that writes.
bool RunPlanner::may_write_over(TensorId value, TensorId state) {
  const RunTensor &from = tensor(value), &to = tensor(state);
  if (!is_computed(value) || from.home != Home::Arena) return false;
  if (from.dtype != to.dtype || !same_dims(from.dims, to.dims)) return false;
  for (const RunCopy& copy : plan_.copies) {
    if (copy.from == state) return false;
  }
  for (const StateUpdate& update : graph_.updates()) {
    if (tensor_of(planned_.class_of[update.value.index()]) == state) return false;
  }
  const StepId writer = producer_[value];
  const RunStep& at = steps_[writer];
  const auto output =
      ParamId::at(std::find(at.params.begin(), at.params.end(), value) - at.params.begin());
  for (StepId reader : readers_[state]) {
    const bool fine = reader == writer ? shares(at, state, output) : !reaches(writer, reader);
    if (!fine) return false;
  }
  return true;
}

void RunPlanner::place_states() {
  const PortMap& map = request_.ports;
  struct Late {
    TensorId value, state;
  };
  std::vector<Late> late;
  for (const StateUpdate& update : graph_.updates()) {
    const TensorId value = tensor_of(planned_.class_of[update.value.index()]);
    auto source =
        std::find(planned_.source_nodes.begin(), planned_.source_nodes.end(), update.state);
    TensorId state;
    if (source != planned_.source_nodes.end()) {
      state = source_tensor_[kernel::SourceId::at(source - planned_.source_nodes.begin())];
    } else {  // written, but never read
      const Node& node = graph_.node(update.state);
      auto leaf = std::find(map.leaves.begin(), map.leaves.end(), update.state);
      state = port_tensor(PortId::at(leaf - map.leaves.begin()), node.dtype, node.dims,
                          graph_.describe(update.state));
    }
    if (value == state) continue;
    if (!may_write_over(value, state)) {
      late.push_back({value, state});
      continue;
    }
    const StepId writer = producer_[value];
    for (StepId reader : readers_[state]) {
      if (reader != writer) after_[writer].push_back(reader);
    }
    tensor(value).home = Home::Port;
    tensor(value).port = tensor(state).port;
  }
  // One state may be the new value of another: such values are copied before any state is written.
  for (Late& update : late) {
    if (is_computed(update.value)) continue;
    const bool rewritten = std::any_of(
        late.begin(), late.end(), [&](const Late& other) { return other.state == update.value; });
    if (!rewritten) continue;
    const RunTensor& from = tensor(update.value);
    const TensorId kept = add_tensor({.dtype = from.dtype, .dims = from.dims, .name = from.name});
    plan_.copies.push_back({update.value, kept});
    update.value = kept;
  }
  for (const Late& update : late) plan_.copies.push_back({update.value, update.state});
}

bool RunPlanner::is_foldable(const RunStep& at,
                             const IdVector<TensorId, bool>& from_weights) const {
  if (at.host != nullptr ? at.host->is_custom() : !kernel_of(at).variables.empty()) return false;
  size_t read = 0, written = 0;
  for (ParamId p : at.params.ids()) {
    const RunTensor& param = plan_.tensors[at.params[p]];
    const Result<ResolvedDims> dims = resolve_dims(param.dims, {});
    if (!dims) return false;
    if (at.is_output[p]) {
      if (param.home == Home::Port) return false;  // each run has to write it anyway
      written += dims->bytes(param.dtype);
    } else {
      if (!from_weights[at.params[p]]) return false;
      read += dims->bytes(param.dtype);
    }
  }
  return kernel::is_worth_folding(static_cast<int64_t>(read), static_cast<int64_t>(written));
}

// A key of a folded value: the kernel and its inputs. Empty for host steps, whose computation has
// no text.
std::string RunPlanner::folded_key(const RunStep& at, ParamId output) const {
  if (at.host != nullptr) return {};
  std::string key = fmt::format("{}output p{}\n", kernel::text(kernel_of(at)), output.value);
  for (ParamId p : at.params.ids()) {
    if (at.is_output[p]) continue;
    const std::string input = folded_name(at.params[p]);
    if (input.empty()) return {};
    key += fmt::format("p{} is {}\n", p.value, input);
  }
  return key;
}

// Identifies a value that depends only on weights; empty if it has no key.
std::string RunPlanner::folded_name(TensorId input) const {
  const RunTensor& at = plan_.tensors[input];
  if (at.home == Home::Port) return fmt::format("port {}", at.port.value);
  // A digest, not the key itself: keys would grow along a chain of steps.
  return at.folded_key.empty() ? "" : base::digest(at.folded_key);
}

void RunPlanner::hand_to_library(RunStep& at, const IdVector<TensorId, bool>& from_weights) {
  Result<LibraryForm> form = library_form(kernel_of(at), request_.options.finite);
  LUMINAL_CHECK(form, "a kernel that the library can't compute was given to it: " + form.why());
  const ParamId b_param = form->b.param;
  const TensorId b = at.params[b_param];
  auto library = LibraryStep::make(std::move(*form), from_weights[b], request_.options);
  LUMINAL_CHECK(library, "the library refuses what it was chosen for: " + library.why());
  at.library = *library;
  if (at.library->packed_bytes() == 0) return;
  at.unread = b_param;
  at.params.push_back(packed_for_library(at.library, b));
  at.is_output.push_back(false);
  std::erase(readers_[b], at.position);
}

TensorId RunPlanner::packed_for_library(const std::shared_ptr<const LibraryStep>& library,
                                        TensorId b) {
  std::string key = folded_name(b);
  if (!key.empty()) key = fmt::format("{}\nis {}\n", library->layout(), key);
  if (const auto known = packed_.find(key); known != packed_.end()) return known->second;
  const TensorId packed = add_tensor({.dtype = DType::U8,
                                      .dims = {static_cast<int64_t>(library->packed_bytes())},
                                      .name = tensor(b).name + " in the layout of oneDNN",
                                      .home = Home::Folded});
  tensor(packed).folded_key = key;
  if (!key.empty()) packed_.emplace(key, packed);
  plan_.folded.push_back(packed);
  RunStep packing;
  packing.library = library;
  packing.params = {b, packed};
  packing.is_output = {false, true};
  plan_.load_steps.push_back(std::move(packing));
  return packed;
}

void RunPlanner::split_off_folded() {
  IdVector<TensorId, bool> from_weights(plan_.tensors.size());
  for (TensorId id : plan_.tensors.ids()) {
    const RunTensor& at = plan_.tensors[id];
    if (at.home != Home::Port || at.port.index() >= request_.ports.leaves.size()) continue;
    const Node& leaf = graph_.node(request_.ports.leaves[at.port.index()]);
    from_weights[id] = leaf.as<InputAttr>().role == Role::Weight;
  }
  IdVector<StepId, bool> folds(steps_.size());
  for (StepId s : steps_.ids()) {
    folds[s] = is_foldable(steps_[s], from_weights);
    if (!folds[s] && is_by_library(steps_[s])) hand_to_library(steps_[s], from_weights);
    if (!folds[s]) continue;
    for (ParamId p : steps_[s].params.ids()) {
      if (!steps_[s].is_output[p]) continue;
      from_weights[steps_[s].params[p]] = true;
      tensor(steps_[s].params[p]).folded_key = folded_key(steps_[s], p);
    }
    plan_.load_steps.push_back(steps_[s]);
  }
  IdVector<TensorId, bool> is_copied(plan_.tensors.size());
  for (const RunCopy& copy : plan_.copies) is_copied[copy.from] = true;
  for (TensorId id : plan_.tensors.ids()) {
    if (!producer_[id].valid() || !folds[producer_[id]]) continue;
    const bool needed = is_copied[id] || std::any_of(readers_[id].begin(), readers_[id].end(),
                                                     [&](StepId reader) { return !folds[reader]; });
    if (!needed) continue;
    plan_.tensors[id].home = Home::Folded;
    plan_.folded.push_back(id);
  }
  for (StepId s : steps_.ids()) {
    if (!folds[s]) plan_.run_steps.push_back(steps_[s]);
  }
}

// Groups load steps that only convert weights into folded values: they are independent, and most
// are too small for several threads. Weights read by one launch stay in memory until it ends, so
// their size is limited.
void RunPlanner::join_load_steps() {
  constexpr size_t kMostTogether = size_t{16} << 20;
  int launch = -1;
  size_t together = 0;  // bytes of the last launch; above the limit if no step may join it
  for (RunStep& at : plan_.load_steps) {
    bool joins = !at.is_alone();
    size_t bytes = 0;
    for (ParamId p : at.params.ids()) {
      const RunTensor& param = tensor(at.params[p]);
      joins &= param.home == (at.is_output[p] ? Home::Folded : Home::Port);
      const Result<ResolvedDims> dims = resolve_dims(param.dims, {});
      if (!at.is_output[p] && dims) bytes += dims->bytes(param.dtype);
    }
    if (launch < 0 || !joins || together + bytes > kMostTogether) {
      ++launch;
      together = 0;
    }
    at.launch = launch;
    together = joins ? together + bytes : kMostTogether + 1;
  }
}

// Finds for each load step the weights that neither later load steps nor runs read.
void RunPlanner::find_spent_weights() {
  IdVector<TensorId, bool> needed(plan_.tensors.size());
  auto need = [&](TensorId id) { needed[id] = true; };
  for (const RunStep& at : plan_.run_steps) {
    for (ParamId p : at.params.ids()) {
      if (!at.is_unread(p)) need(at.params[p]);
    }
  }
  for (const RunCopy& copy : plan_.copies) need(copy.from);
  for (size_t s = plan_.load_steps.size(); s-- > 0;) {
    RunStep& at = plan_.load_steps[s];
    for (TensorId id : at.params) {
      const bool spent = tensor(id).home == Home::Port && !needed[id];
      if (spent) at.spent.push_back(id);
      need(id);
    }
  }
}

void RunPlanner::order_run_steps() {
  IdVector<StepId, int> number(steps_.size(), -1);  // among run_steps
  for (size_t i = 0; i < plan_.run_steps.size(); ++i) {
    number[plan_.run_steps[i].position] = static_cast<int>(i);
  }
  std::vector<size_t> bytes;
  for (const RunTensor& at : plan_.tensors) {
    // A tensor whose size isn't known at the typical sizes counts as 0.
    const Result<ResolvedDims> dims = resolve_dims(at.dims, request_.options.typical_sizes);
    bytes.push_back(dims && at.home == Home::Arena ? dims->bytes(at.dtype) : 0);
  }
  const auto buffer_of = [](TensorId id) { return static_cast<int>(id.value); };
  std::vector<runtime::StepNeeds> needs;
  std::vector<bool> alone;
  for (const RunStep& at : plan_.run_steps) {
    alone.push_back(at.is_alone());
    runtime::StepNeeds need;
    for (StepId before : after_[at.position]) {
      if (number[before] >= 0) need.after.push_back(number[before]);
    }
    for (ParamId p : at.params.ids()) {
      if (at.is_unread(p)) continue;
      (at.is_output[p] ? need.writes : need.reads).push_back(buffer_of(at.params[p]));
    }
    needs.push_back(std::move(need));
  }
  // Tensors that are copied at the end are alive until then.
  runtime::StepNeeds end;
  for (size_t i = 0; i < needs.size(); ++i) end.after.push_back(static_cast<int>(i));
  for (const RunCopy& copy : plan_.copies) end.reads.push_back(buffer_of(copy.from));
  needs.push_back(std::move(end));
  alone.push_back(true);
  const std::vector<int> order = runtime::order_steps(needs, bytes);
  const std::vector<int> launches = runtime::group_steps(needs, bytes, order, alone);
  std::vector<RunStep> ordered;
  for (size_t i = 0; i + 1 < order.size(); ++i) {  // the last is the end
    ordered.push_back(plan_.run_steps[static_cast<size_t>(order[i])]);
    ordered.back().launch = launches[i];
  }
  plan_.run_steps = std::move(ordered);
  plan_.n_launches = launches.back();
}

void RunPlanner::find_lifetimes(const std::vector<RunStep>& steps) {
  for (const RunStep& step : steps) {
    for (ParamId p : step.params.ids()) {
      if (step.is_unread(p)) continue;
      RunTensor& at = tensor(step.params[p]);
      if (step.is_output[p]) at.first = step.launch;
      at.last = step.launch;
    }
  }
}

void RunPlanner::find_takeovers(const std::vector<RunStep>& steps) {
  // Another step of the same launch, which runs in parallel, may read it at any time.
  auto read_by_another = [&](size_t s, TensorId input) {
    auto reads = [&](const RunStep& other) {
      return std::ranges::find(other.params, input) != other.params.end();
    };
    const int launch = steps[s].launch;
    for (size_t k = s; k-- > 0 && steps[k].launch == launch;) {
      if (reads(steps[k])) return true;
    }
    for (size_t k = s + 1; k < steps.size() && steps[k].launch == launch; ++k) {
      if (reads(steps[k])) return true;
    }
    return false;
  };
  for (size_t s = 0; s < steps.size(); ++s) {
    const RunStep& at = steps[s];
    if (!is_compiled(at)) continue;
    for (ParamId out : at.params.ids()) {
      if (!at.is_output[out]) continue;
      RunTensor& output = tensor(at.params[out]);
      for (ParamId in : at.params.ids()) {
        const RunTensor& input = tensor(at.params[in]);
        if (at.is_output[in] || input.home != output.home) continue;
        bool shared = input.home == Home::Port && input.port == output.port;  // a state
        if (input.home == Home::Arena && input.last == at.launch &&
            !read_by_another(s, at.params[in]) && shares(at, at.params[in], out)) {
          output.may_take.push_back(at.params[in]);
          shared = true;
        }
        if (shared) plan_.in_place[at.kernel] = true;
      }
    }
  }
}

}  // namespace

RunPlan make_run_plan(const LoadRequest& request) { return RunPlanner(request).make(); }

std::vector<std::string> held_twice(const RunPlan& plan) {
  IdVector<TensorId, bool> is_read(plan.tensors.size());
  for (const RunStep& at : plan.run_steps) {
    for (ParamId p : at.params.ids()) {
      if (!at.is_unread(p)) is_read[at.params[p]] = true;
    }
  }
  for (const RunCopy& copy : plan.copies) is_read[copy.from] = true;
  std::vector<std::string> lines;
  for (const RunStep& at : plan.load_steps) {
    if (!at.packs()) continue;
    const TensorId weight = at.params[ParamId{0}];
    if (!is_read[weight]) continue;
    lines.push_back(
        fmt::format("{} is stored more than once, {} bytes of it in the layout of oneDNN: other "
                    "steps read it unpacked",
                    plan.tensors[weight].name, at.library->packed_bytes()));
  }
  return lines;
}

}  // namespace luminal::backends::cpu
