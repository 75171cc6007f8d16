#include "luminal/backends/cpu/cpu_program.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <ostream>

#include "luminal/backends/cpu/launch.h"
#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/graph/edit.h"
#include "luminal/graph/interpret/interpreter.h"

namespace luminal::backends::cpu {
namespace {

using kernel::ClassId;
using runtime::Buffer;

std::vector<int64_t> resolve(const Dims& dims, const Bindings& bindings) {
  std::vector<int64_t> resolved;
  for (Expr dim : dims) {
    const Expr::Value value = dim.evaluate(bindings);
    if (!value.value || *value.value < 0) {
      throw UserError(fmt::format("run: dim {} of an intermediate {} has no valid value{}",
                                  dim.text(), text(dims),
                                  value.why.empty() ? "" : ": " + value.why));
    }
    resolved.push_back(*value.value);
  }
  return resolved;
}

size_t bytes_of(DType dtype, const Dims& dims, const Bindings& bindings) {
  int64_t count = 1;
  for (int64_t dim : resolve(dims, bindings)) {
    if (__builtin_mul_overflow(count, dim, &count)) {
      throw UserError(
          fmt::format("run: an intermediate {} would have too many elements", text(dims)));
    }
  }
  return static_cast<size_t>(byte_size(dtype, count));
}

void copy_bytes(const Buffer& from, const Buffer& to) {
  LUMINAL_CHECK(from.size() >= to.size(), "a result is larger than what was computed");
  if (to.size() > 0) std::memcpy(to.writable().data(), from.bytes().data(), to.size());
}

}  // namespace

CpuProgram::CpuProgram(const LoadRequest& request,
                       std::vector<std::shared_ptr<const CompiledKernel>> kernels)
    : request_(request),
      kernels_(std::move(kernels)),
      ports_(make_ports(*request.graph, request.ports, false)),
      sources_(request.planned->terms.sources.size()),
      values_(request.planned->terms.classes.size()),
      own_sources_(sources_.size()),
      own_values_(values_.size()) {
  for (const auto& step : request_.planned->plan.steps) {
    if (const auto* host = std::get_if<kernel::HostStep>(&step)) make_host_graph(host->source);
  }
}

std::unique_ptr<runtime::Program> CpuProgram::clone() const {
  return std::make_unique<CpuProgram>(request_, kernels_);
}

void CpuProgram::make_host_graph(int source) {
  const Graph& graph = *request_.graph;
  const NodeId node = request_.planned->source_nodes[static_cast<size_t>(source)];
  auto host = std::make_shared<HostGraph>();
  host->graph = std::make_unique<Graph>();
  std::unordered_map<NodeId, Tensor> inputs;
  for (NodeId input : graph.node(node).inputs) {
    if (inputs.contains(input)) continue;
    const Node& from = graph.node(input);
    Tensor leaf =
        host->graph->input(fmt::format("operand {}", inputs.size()), from.dims, from.dtype);
    inputs.emplace(input, leaf);
    host->leaves.push_back(leaf.id());
    host->operands.push_back(request_.planned->class_of[input.index()]);
  }
  host->node = copy_subgraph(graph, {&node, 1}, *host->graph, inputs)[0].id();
  host_graphs_.emplace(source, std::move(host));
}

Buffer CpuProgram::grown(Buffer buffer, size_t size) const {
  return buffer.valid() && buffer.size() >= size ? buffer : Buffer::allocate(size);
}

const Buffer& CpuProgram::memory_of(ClassId id) const {
  const int source = request_.planned->source_of(id);
  return source >= 0 ? sources_[static_cast<size_t>(source)] : values_[id.index()];
}

// Where every tensor of this run is: leaves and results at their ports, the rest in buffers of
// ours.
void CpuProgram::bind_memory(const Bindings& bindings, std::span<const Buffer> buffers) {
  const kernel::PlannedGraph& planned = *request_.planned;
  const PortMap& map = request_.ports;
  std::unordered_map<NodeId, size_t> leaf_port;
  for (size_t i = 0; i < map.leaves.size(); ++i) leaf_port[map.leaves[i]] = i;
  for (size_t s = 0; s < sources_.size(); ++s) {
    const kernel::Source& source = planned.terms.sources[s];
    auto port = leaf_port.find(planned.source_nodes[s]);
    if (port != leaf_port.end()) {
      sources_[s] = buffers[port->second];
    } else {
      own_sources_[s] = grown(own_sources_[s], bytes_of(source.dtype, source.dims, bindings));
      sources_[s] = own_sources_[s];
    }
  }
  std::unordered_map<ClassId, size_t> result_port;
  for (size_t i = 0; i < map.results.size(); ++i) {
    result_port.emplace(planned.class_of[map.results[i].index()], map.leaves.size() + i);
  }
  for (const auto& step : planned.plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr) continue;
    for (ClassId id : kernel::stored_by(kernel->lowered)) {
      if (auto port = result_port.find(id); port != result_port.end()) {
        values_[id.index()] = buffers[port->second];
        continue;
      }
      const kernel::TermClass& value = planned.terms.at(id);
      own_values_[id.index()] =
          grown(own_values_[id.index()], bytes_of(value.dtype, value.dims, bindings));
      values_[id.index()] = own_values_[id.index()];
    }
  }
}

void CpuProgram::run_kernel(const kernel::KernelStep& step, const CompiledKernel& kernel,
                            const Bindings& bindings) {
  std::vector<int64_t> variables;
  for (Expr variable : kernel.kernel().variables) {
    variables.push_back(bindings.find(variable.name()).value());
  }
  std::vector<const void*> params;
  for (const kernel::ParamOrigin& origin : step.lowered.origins) {
    const Buffer& buffer =
        origin.source >= 0 ? sources_[static_cast<size_t>(origin.source)] : memory_of(origin.value);
    params.push_back(buffer.bytes().data());
  }
  const Launch launch = prepare_launch(kernel, variables, {.threads = request_.options.threads});
  scratch_ = grown(scratch_, static_cast<size_t>(launch.scratch_bytes * launch.threads));
  cpu::run(launch, params, scratch_.writable().data());
}

void CpuProgram::run_host(const HostGraph& host, int source, const Bindings& bindings) {
  auto leaf_data = [&](NodeId id) {
    for (size_t i = 0; i < host.leaves.size(); ++i) {
      if (host.leaves[i] != id) continue;
      const Node& node = host.graph->node(id);
      const Buffer& buffer = memory_of(host.operands[i]);
      const size_t size = bytes_of(node.dtype, node.dims, bindings);
      return TensorData{.dtype = node.dtype,
                        .dims = resolve(node.dims, bindings),
                        .bytes = buffer.bytes().first(size),
                        .owner = buffer.owner()};
    }
    LUMINAL_CHECK(false, "a host step reads what it wasn't given");
    __builtin_unreachable();
  };
  interpret::Interpreter interpreter(*host.graph, bindings, leaf_data);
  const TensorData value = interpreter.values({&host.node, 1})[0];
  const Buffer& target = sources_[static_cast<size_t>(source)];
  if (!value.bytes.empty()) {
    std::memcpy(target.writable().data(), value.bytes.data(), value.bytes.size());
  }
}

// Results that no kernel wrote at their port, and states, whose update must wait for the last read.
void CpuProgram::finish(std::span<const Buffer> buffers) {
  const kernel::PlannedGraph& planned = *request_.planned;
  const PortMap& map = request_.ports;
  for (size_t i = 0; i < map.results.size(); ++i) {
    const Buffer& from = memory_of(planned.class_of[map.results[i].index()]);
    const Buffer& to = buffers[map.leaves.size() + i];
    if (from.bytes().data() != to.bytes().data()) copy_bytes(from, to);
  }
  // One state may be another's new value: all are read before any is written.
  std::vector<std::pair<size_t, Buffer>> updates;
  for (const StateUpdate& update : request_.graph->updates()) {
    for (size_t i = 0; i < map.leaves.size(); ++i) {
      if (map.leaves[i] != update.state) continue;
      const Buffer& from = memory_of(planned.class_of[update.value.index()]);
      const bool is_state = planned.source_of(planned.class_of[update.value.index()]) >= 0;
      updates.emplace_back(i, is_state ? from.copy() : from);
    }
  }
  for (const auto& [port, from] : updates) copy_bytes(from, buffers[port]);
}

void CpuProgram::run(const Bindings& bindings, std::span<const Buffer> buffers,
                     const runtime::StepOptions& options) {
  using Clock = std::chrono::steady_clock;
  bind_memory(bindings, buffers);
  size_t kernel = 0;
  const auto& steps = request_.planned->plan.steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto start = Clock::now();
    std::string what;
    if (const auto* host = std::get_if<kernel::HostStep>(&steps[i])) {
      run_host(*host_graphs_.at(host->source), host->source, bindings);
      if (options.debug != nullptr) {
        what = "host " + request_.planned->terms.sources[static_cast<size_t>(host->source)].name;
      }
    } else {
      const auto& step = std::get<kernel::KernelStep>(steps[i]);
      run_kernel(step, *kernels_[kernel++], bindings);
      if (options.debug != nullptr) {
        what = "kernel ";
        for (const kernel::Param& param : step.lowered.kernel.params) {
          if (!param.output) continue;
          what += fmt::format(" {}[{}]", name(param.dtype),
                              fmt::join(resolve(param.dims, bindings), ", "));
        }
      }
    }
    if (options.debug == nullptr) continue;
    const std::chrono::duration<double, std::milli> taken = Clock::now() - start;
    *options.debug << fmt::format("step {}/{}  {}  {:.3f} ms\n", i + 1, steps.size(), what,
                                  taken.count());
  }
  finish(buffers);
}

}  // namespace luminal::backends::cpu
