#include "luminal/backends/interp/interp_backend.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/graph/interpret/interpreter.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal::backends {
namespace {

using runtime::Buffer;
using runtime::Port;

void copy_into(const TensorData& data, const Buffer& buffer) {
  LUMINAL_CHECK(data.bytes.size() == buffer.size(), "a port's buffer has the wrong size");
  if (!data.bytes.empty()) {
    std::memcpy(buffer.writable().data(), data.bytes.data(), data.bytes.size());
  }
}

class InterpProgram : public runtime::Program {
 public:
  explicit InterpProgram(const LoadRequest& request)
      : request_(request),
        graph_(*request.graph),
        ports_(make_ports(graph_, request.ports, request.options.float64)) {
    for (size_t i = 0; i < request_.ports.leaves.size(); ++i) {
      port_of_leaf_[request_.ports.leaves[i]] = i;
    }
  }

  const std::vector<Port>& ports() const override { return ports_; }

  // The interpreter allocates as it goes.
  runtime::MemoryUse plan_memory(const Bindings&, bool) override { return {}; }
  void weights_changed() override {}
  std::vector<bool> reads() const override { return std::vector<bool>(ports().size(), true); }

  void run(const Bindings& bindings, std::span<const Buffer> buffers,
           const runtime::StepOptions& options) override {
    auto leaf_data = [&](NodeId id) {
      const size_t port = port_of_leaf_.at(id);
      return TensorData{.dtype = ports_[port].dtype,
                        .dims = resolve_dims(ports_[port].dims, bindings)->sizes,
                        .bytes = buffers[port].bytes(),
                        .owner = buffers[port].owner()};
    };
    using interpret::Precision;
    interpret::Interpreter interpreter(
        graph_, bindings, leaf_data,
        {.precision = request_.options.float64 ? Precision::Float64 : Precision::AsDeclared,
         .debug = options.debug});
    // Computed together, so that every read of a state precedes its update.
    std::vector<NodeId> wanted = request_.ports.results;
    for (const StateUpdate& update : graph_.updates()) wanted.push_back(update.value);
    std::vector<TensorData> values = interpreter.values(wanted);
    for (size_t i = 0; i < request_.ports.results.size(); ++i) {
      copy_into(values[i], buffers[request_.ports.leaves.size() + i]);
    }
    for (size_t i = 0; i < graph_.updates().size(); ++i) {
      const size_t port = port_of_leaf_.at(graph_.updates()[i].state);
      copy_into(values[request_.ports.results.size() + i].cast(ports_[port].dtype), buffers[port]);
    }
  }

  std::unique_ptr<Program> clone(const Program*) const override {
    return std::make_unique<InterpProgram>(request_);
  }

 private:
  LoadRequest request_;
  const Graph& graph_;  // of the request
  std::vector<Port> ports_;
  std::unordered_map<NodeId, size_t> port_of_leaf_;
};

class InterpBackend : public Backend {
 public:
  std::string_view name() const override { return "interp"; }
  std::string target(const LoadOptions& options) const override {
    if (options.target.empty()) return {};
    throw UserError("target '" + options.target +
                    "': the interpreter compiles nothing; choose backend \"cpu\" with it");
  }
  bool runs_plans() const override { return false; }
  std::vector<std::unique_ptr<runtime::Program>> load(std::span<const LoadRequest> requests,
                                                      LoadReport*) const override {
    std::vector<std::unique_ptr<runtime::Program>> programs;
    for (const LoadRequest& request : requests) {
      programs.push_back(std::make_unique<InterpProgram>(request));
    }
    return programs;
  }
};

}  // namespace

const Backend& interp_backend() {
  static const InterpBackend backend;
  return backend;
}

}  // namespace luminal::backends
