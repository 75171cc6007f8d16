#include "luminal/backends/cpu/program/cpu_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ostream>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/memory.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal::backends::cpu {
namespace {

using kernel::ParamId;
using runtime::Buffer;

Launch prepare_launch(const CompiledKernel& kernel, const Bindings& bindings,
                      const LaunchOptions& options) {
  std::vector<int64_t> variables;
  for (Expr variable : kernel.kernel().variables) {
    variables.push_back(bindings.find(variable.name()).value());
  }
  return cpu::prepare_launch(kernel, variables, options);
}

ResolvedDims resolve(const RunTensor& tensor, const Bindings& bindings) {
  Result<ResolvedDims> resolved = resolve_dims(tensor.dims, bindings);
  if (!resolved) throw UserError(fmt::format("run: {}: {}", tensor.name, resolved.why()));
  return *resolved;
}

void sort_by_size(std::vector<runtime::MemoryUse::Tensor>& tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name;
  });
}

}  // namespace

CpuProgram::CpuProgram(const LoadRequest& request, std::shared_ptr<const RunPlan> plan,
                       Kernels kernels, std::shared_ptr<Shared> shared)
    : request_(request),
      kernels_(std::move(kernels)),
      ports_(make_ports(*request.graph, request.ports, false)),
      plan_(std::move(plan)),
      shared_(std::move(shared)),
      addresses_(plan_->tensors.size(), nullptr),
      folded_(plan_->folded.size()) {}

// Shares the code and the folded values, since the weights are shared too.
CpuProgram::CpuProgram(const CpuProgram& other, std::shared_ptr<Shared> shared)
    : request_(other.request_),
      kernels_(other.kernels_),
      ports_(other.ports_),
      plan_(other.plan_),
      shared_(std::move(shared)),
      addresses_(other.addresses_.size(), nullptr),
      folded_(other.folded_),
      folded_is_current_(other.folded_is_current_) {}

std::unique_ptr<runtime::Program> CpuProgram::clone(const Program* beside) const {
  std::shared_ptr<Shared> shared;
  if (beside != nullptr) {
    shared = dynamic_cast<const CpuProgram&>(*beside).shared_;
  } else {
    shared = std::make_shared<Shared>();
    shared->folded = shared_->folded;
  }
  return std::unique_ptr<Program>(new CpuProgram(*this, std::move(shared)));
}

void CpuProgram::weights_changed() {
  folded_is_current_ = false;
  shared_->folded.clear();
}

CpuProgram::Layout CpuProgram::lay_out(const std::vector<RunStep>& steps,
                                       const Bindings& bindings) const {
  Layout layout;
  layout.offsets.resize(plan_->tensors.size());
  std::vector<runtime::BufferRequest> requests;
  IdVector<TensorId, int> request_of(plan_->tensors.size(), -1);
  auto request_tensor = [&](TensorId id) {
    const RunTensor& tensor = plan_->tensors[id];
    if (tensor.home != Home::Arena) return;
    runtime::BufferRequest request{
        .bytes = bytes_[id], .first = tensor.first, .last = tensor.last, .may_take = {}};
    for (TensorId input : tensor.may_take) request.may_take.push_back(request_of[input]);
    request_of[id] = static_cast<int>(requests.size());
    requests.push_back(std::move(request));
  };
  const LaunchOptions options{.threads = request_.options.threads,
                              .speed = request_.options.thread_speed};
  for (const RunStep& step : steps) {
    for (ParamId p : step.params.ids()) {
      if (step.is_output[p]) request_tensor(step.params[p]);
    }
    ReadyStep ready{.step = &step, .launch = {}, .second = {}, .library = {}, .custom = {}};
    ready.params.resize(step.params.size());
    if (step.library != nullptr) {
      if (!step.packs()) ready.library = step.library->prepare(bindings);
    } else if (step.kernel.valid()) {
      const StepCode& code = kernels_[step.kernel];
      ready.launch = prepare_launch(*code.kernel, bindings, options);
      if (code.split != nullptr) {
        ready.split = code.split.get();
        ready.second = prepare_launch(*code.second, bindings, options);
        ready.first_params.resize(code.split->ranges_params.size());
        ready.second_params.resize(code.split->together_params.size());
      }
    } else if (step.host->has_kernel()) {
      ready.custom = step.host->prepare(bindings, options.threads);
    }
    layout.steps.push_back(std::move(ready));
  }
  share_threads(layout, options);
  std::vector<size_t> first_request;  // by step: its scratch memory, then split-softmax partials
  for (const ReadyStep& ready : layout.steps) {
    const int now = ready.step->launch;
    first_request.push_back(requests.size());
    auto request_own = [&](int64_t bytes) {
      requests.push_back(
          {.bytes = static_cast<size_t>(bytes), .first = now, .last = now, .may_take = {}});
    };
    request_own(ready.library.matmul != nullptr
                    ? static_cast<int64_t>(ready.library.matmul->scratch_bytes())
                    : ready.launch.scratch_bytes * ready.launch.threads);
    if (ready.split == nullptr) continue;
    request_own(ready.second.scratch_bytes * ready.second.threads);
    for (const kernel::Param& param : ready.split->between) {
      const Result<ResolvedDims> dims = resolve_dims(param.dims, bindings);
      LUMINAL_CHECK(static_cast<bool>(dims), "a tensor between two kernels has no size");
      request_own(static_cast<int64_t>(dims->bytes(param.dtype)));
    }
  }
  if (&steps == &plan_->run_steps) {
    for (const RunCopy& copy : plan_->copies) request_tensor(copy.to);
  }
  layout.memory = runtime::plan_memory(requests);
  for (TensorId id : request_of.ids()) {
    if (request_of[id] < 0) continue;
    layout.offsets[id] = layout.memory.offsets[static_cast<size_t>(request_of[id])];
  }
  for (size_t s = 0; s < layout.steps.size(); ++s) {
    ReadyStep& ready = layout.steps[s];
    const size_t* offset = layout.memory.offsets.data() + first_request[s];
    ready.scratch = *offset++;
    if (ready.split == nullptr) continue;
    ready.second_scratch = *offset++;
    ready.between.assign(offset, offset + ready.split->between.size());
  }
  return layout;
}

void CpuProgram::prepare(const Bindings& bindings) {
  if (prepared_ && bindings.items() == bindings_.items()) return;
  prepared_ = false;
  bytes_ = {};
  for (const RunTensor& tensor : plan_->tensors) {
    bytes_.push_back(resolve(tensor, bindings).bytes(tensor.dtype));
  }
  layout_ = lay_out(plan_->run_steps, bindings);
  bindings_ = bindings;
  prepared_ = true;
}

std::vector<bool> CpuProgram::reads() const {
  std::vector<bool> read(ports_.size(), false);
  auto reads_tensor = [&](TensorId tensor) {
    const RunTensor& at = plan_->tensors[tensor];
    if (at.home == Home::Port) read[at.port.index()] = true;
  };
  auto reads_of = [&](const RunStep& step) {
    for (ParamId p : step.params.ids()) {
      if (!step.is_unread(p)) reads_tensor(step.params[p]);
    }
  };
  for (const RunStep& step : plan_->run_steps) reads_of(step);
  for (const RunCopy& copy : plan_->copies) reads_tensor(copy.from);
  if (folded_is_current_) return read;
  const std::vector<bool> missing = missing_load_steps();
  for (size_t s = 0; s < missing.size(); ++s) {
    if (missing[s]) reads_of(plan_->load_steps[s]);
  }
  return read;
}

runtime::MemoryUse CpuProgram::plan_memory(const Bindings& bindings, bool list_tensors) {
  prepare(bindings);
  runtime::MemoryUse use;
  use.arena = layout_.memory.peak;
  use.unshared = layout_.memory.unshared;
  for (TensorId id : plan_->folded) use.folded += bytes_[id];
  if (!list_tensors) return use;
  for (const RunStep& step : plan_->run_steps) {
    for (ParamId p : step.params.ids()) {
      const TensorId id = step.params[p];
      const RunTensor& tensor = plan_->tensors[id];
      if (!step.is_output[p] || tensor.home != Home::Arena) continue;
      use.tensors.push_back({describe(tensor), bytes_[id]});
    }
  }
  for (TensorId id : plan_->folded) {
    use.kept.push_back({describe(plan_->tensors[id]), bytes_[id]});
  }
  sort_by_size(use.tensors);
  sort_by_size(use.kept);
  return use;
}

void CpuProgram::find_addresses(const Layout& layout, std::byte* arena,
                                std::span<const Buffer> buffers) {
  for (TensorId id : plan_->tensors.ids()) {
    const RunTensor& tensor = plan_->tensors[id];
    switch (tensor.home) {
      case Home::Port:
        // The const_cast is safe: steps only write to outputs, never to leaves.
        addresses_[id] = const_cast<std::byte*>(buffers[tensor.port.index()].bytes().data());
        break;
      case Home::Arena:
        addresses_[id] = arena + layout.offsets[id];
        break;
      case Home::Folded:
        break;  // below
    }
  }
  for (size_t i = 0; i < plan_->folded.size(); ++i) {
    addresses_[plan_->folded[i]] = folded_[i].writable().data();
  }
}

std::vector<bool> CpuProgram::missing_load_steps() const {
  IdVector<TensorId, bool> wanted(plan_->tensors.size());
  for (TensorId id : plan_->folded) {
    const RunTensor& tensor = plan_->tensors[id];
    wanted[id] = !shared_->folded.contains(tensor.folded_key);
  }
  std::vector<bool> missing(plan_->load_steps.size(), false);
  for (size_t s = missing.size(); s-- > 0;) {
    const RunStep& step = plan_->load_steps[s];
    for (ParamId p : step.params.ids()) {
      if (step.is_output[p] && wanted[step.params[p]]) missing[s] = true;
    }
    if (!missing[s]) continue;
    for (TensorId id : step.params) wanted[id] = true;
  }
  return missing;
}

// Folds into one new allocation, which then has huge pages: small pages would cost a page fault
// each, and TLB misses in every run. New, since a clone may still use the old one. Values that
// another program has folded from the same weights are reused.
void CpuProgram::fold(std::span<const Buffer> buffers, const runtime::StepOptions& options) {
  if (folded_is_current_) return;
  const std::vector<bool> missing = missing_load_steps();
  IdVector<TensorId, bool> made(plan_->tensors.size());  // by these steps
  for (size_t s = 0; s < missing.size(); ++s) {
    const RunStep& step = plan_->load_steps[s];
    for (ParamId p : step.params.ids()) {
      if (missing[s] && step.is_output[p]) made[step.params[p]] = true;
    }
  }
  std::vector<size_t> offsets(plan_->folded.size());
  std::vector<bool> fresh(plan_->folded.size(), false);
  size_t total = 0;
  for (size_t i = 0; i < plan_->folded.size(); ++i) {
    const TensorId id = plan_->folded[i];
    const auto known = shared_->folded.find(plan_->tensors[id].folded_key);
    fresh[i] = known == shared_->folded.end() || made[id];
    if (!fresh[i]) {
      folded_[i] = known->second;
      continue;
    }
    offsets[i] = total;
    total += (bytes_[id] + Buffer::kAlignment - 1) / Buffer::kAlignment * Buffer::kAlignment;
  }
  const Buffer all = Buffer::allocate(total);
  for (size_t i = 0; i < plan_->folded.size(); ++i) {
    if (fresh[i]) {
      folded_[i] = all.part(offsets[i], bytes_[plan_->folded[i]]);
    }
  }
  if (std::find(missing.begin(), missing.end(), true) != missing.end()) {
    Layout layout = lay_out(plan_->load_steps, {});
    std::erase_if(layout.steps, [&](const ReadyStep& ready) {
      return !missing[static_cast<size_t>(ready.step - plan_->load_steps.data())];
    });
    runtime::Arena arena;
    std::byte* start = arena.reserve(layout.memory.peak);
    find_addresses(layout, start, buffers);
    run_steps(layout, {}, start, options);
  }
  for (size_t i = 0; i < plan_->folded.size(); ++i) {
    const RunTensor& tensor = plan_->tensors[plan_->folded[i]];
    if (!tensor.folded_key.empty()) shared_->folded.emplace(tensor.folded_key, folded_[i]);
  }
  folded_is_current_ = true;
}

void CpuProgram::share_threads(Layout& layout, const LaunchOptions& options) {
  std::vector<Launch*> together;
  for (size_t i = 0; i < layout.steps.size(); ++i) {
    together.push_back(&layout.steps[i].launch);
    const bool last = i + 1 == layout.steps.size() ||
                      layout.steps[i + 1].step->launch != layout.steps[i].step->launch;
    if (!last) continue;
    if (together.size() > 1) cpu::share_threads(together, options);
    layout.parts.reserve(together.size());
    layout.then.reserve(together.size());
    together.clear();
  }
}

// Steps of one launch run in parallel, unless an observer watches them one by one.
void CpuProgram::run_steps(Layout& layout, const Bindings& bindings, std::byte* arena,
                           const runtime::StepOptions& options) {
  for (ReadyStep& ready : layout.steps) {
    for (ParamId p : ready.step->params.ids()) {
      const TensorId id = ready.step->params[p];
      const bool is_gone = ready.step->is_unread(p) && plan_->tensors[id].home == Home::Arena;
      ready.params[p.index()] = is_gone ? nullptr : addresses_[id];
    }
  }
  if (options.observer != nullptr || options.debug != nullptr) {
    run_watched(layout, bindings, arena, options);
    return;
  }
  for (size_t i = 0; i < layout.steps.size();) {
    const int launch = layout.steps[i].step->launch;
    const size_t first = i;
    while (i < layout.steps.size() && layout.steps[i].step->launch == launch) ++i;
    if (layout.steps[first].step->is_alone()) {
      run_step(layout, layout.steps[first], bindings, arena, options);
    } else {
      layout.parts.clear();
      layout.then.clear();
      for (size_t k = first; k < i; ++k) add_parts(layout.steps[k], arena, layout);
      if (!cpu::run_side_by_side(layout.parts, layout.then)) judge_index(options);
    }
    for (size_t done = first; done < i; ++done) drop_spent(*layout.steps[done].step);
  }
}

void CpuProgram::add_parts(ReadyStep& ready, std::byte* arena, Layout& layout) {
  if (ready.split == nullptr) {
    layout.parts.push_back({&ready.launch, ready.params, arena + ready.scratch});
    return;
  }
  auto fill = [&](const IdVector<ParamId, ParamId>& sources, std::vector<const void*>& params) {
    for (ParamId p : sources.ids()) {
      const size_t source = sources[p].index();
      params[p.index()] = source < ready.params.size()
                              ? ready.params[source]
                              : arena + ready.between[source - ready.params.size()];
    }
  };
  fill(ready.split->ranges_params, ready.first_params);
  fill(ready.split->together_params, ready.second_params);
  layout.parts.push_back({&ready.launch, ready.first_params, arena + ready.scratch});
  layout.then.push_back({&ready.second, ready.second_params, arena + ready.second_scratch});
}

void CpuProgram::run_step(Layout& layout, ReadyStep& ready, const Bindings& bindings,
                          std::byte* arena, const runtime::StepOptions& options) {
  const RunStep& step = *ready.step;
  if (step.packs()) {
    step.library->pack(ready.params[0], const_cast<void*>(ready.params[1]));
  } else if (step.library != nullptr) {
    step.library->run(ready.library, std::span(ready.params).first(step.n_kernel_params()),
                      ready.params.back(), arena + ready.scratch);
  } else if (step.host != nullptr && step.host->has_kernel()) {
    cpu::run(ready.custom, ready.params);
  } else if (step.host != nullptr) {
    step.host->interpret(bindings, ready.params);
  } else {
    layout.parts.clear();
    layout.then.clear();
    add_parts(ready, arena, layout);
    if (!cpu::run_side_by_side(layout.parts, layout.then)) judge_index(options);
  }
}

void CpuProgram::judge_index(const runtime::StepOptions& options) {
  if (options.index_judge == nullptr) {
    throw UserError("run: an index of a gather or scatter is out of range; check the index tensor");
  }
  options.index_judge->judge();
}

void CpuProgram::drop_spent(const RunStep& step) {
  for (TensorId id : step.spent) base::drop_mapped_pages({addresses_[id], bytes_[id]});
}

void CpuProgram::run_watched(Layout& layout, const Bindings& bindings, std::byte* arena,
                             const runtime::StepOptions& options) {
  using Clock = std::chrono::steady_clock;
  for (size_t i = 0; i < layout.steps.size(); ++i) {
    ReadyStep& ready = layout.steps[i];
    const RunStep& step = *ready.step;
    const auto start = Clock::now();
    const bool brings_kernel = step.host != nullptr && step.host->has_kernel();
    const runtime::StepView view{
        .step = step.packs() ? runtime::StepView::kPacking : static_cast<int>(step.position.value),
        .threads = step.library != nullptr ? request_.options.threads
                   : brings_kernel         ? ready.custom.threads
                                           : ready.launch.threads,
        .params = std::span(ready.params).first(step.n_kernel_params())};
    if (options.observer != nullptr) options.observer->before(view);
    run_step(layout, ready, bindings, arena, options);
    if (options.observer != nullptr) options.observer->after(view);
    drop_spent(step);
    if (options.debug == nullptr) continue;
    const std::chrono::duration<double, std::milli> taken = Clock::now() - start;
    *options.debug << fmt::format("step {}/{}  {}  {:.3f} ms\n", i + 1, layout.steps.size(),
                                  describe(ready), taken.count());
  }
}

void CpuProgram::run(const Bindings& bindings, std::span<const Buffer> buffers,
                     const runtime::StepOptions& options) {
  prepare(bindings);
  fold(buffers, options);
  std::byte* arena = shared_->arena.reserve(layout_.memory.peak);
  find_addresses(layout_, arena, buffers);
  run_steps(layout_, bindings, arena, options);
  const runtime::StepView end{.step = runtime::StepView::kFinish};
  if (options.observer != nullptr) options.observer->before(end);
  for (const RunCopy& copy : plan_->copies) {
    const TensorId from = copy.from, to = copy.to;
    LUMINAL_CHECK(bytes_[from] == bytes_[to], "a result has another size than what was computed");
    if (bytes_[to] > 0) std::memcpy(addresses_[to], addresses_[from], bytes_[to]);
  }
  if (options.observer != nullptr) options.observer->after(end);
}

std::string CpuProgram::describe(const ReadyStep& ready) const {
  const RunStep& step = *ready.step;
  std::string text = step.host != nullptr              ? "host"
                     : step.packs()                    ? "packing for oneDNN "
                     : ready.library.matmul != nullptr ? ready.library.matmul->routine() + " "
                                                       : "kernel ";
  for (ParamId p : step.params.ids()) {
    if (!step.is_output[p]) continue;
    const RunTensor& result = plan_->tensors[step.params[p]];
    text += step.host != nullptr ? " " + result.name
                                 : fmt::format(" {}[{}]", name(result.dtype),
                                               fmt::join(resolve(result, bindings_).sizes, ", "));
  }
  return text;
}

std::string CpuProgram::describe(const RunTensor& tensor) const {
  return fmt::format("{}[{}] {}", name(tensor.dtype),
                     fmt::join(resolve(tensor, bindings_).sizes, ", "), tensor.name);
}

}  // namespace luminal::backends::cpu
