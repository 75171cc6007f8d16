// From the records of a program to a graph: operators become tensors by the table, and what is
// written in place becomes values.
#include "luminal/pytorch/importer/import_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/io/file/quote.h"
#include "luminal/pytorch/aten/op_table.h"
#include "luminal/pytorch/aten/written_views.h"
#include "luminal/pytorch/importer/needed_calls.h"
#include "luminal/pytorch/importer/origins.h"
#include "luminal/pytorch/pt2.h"

namespace luminal::pytorch {
namespace {

// Each write goes through all views between a tensor and what it is a view of.
constexpr size_t kMostViews = 100;

// What a call reads from another: its first argument, of which its results are views.
std::string first_ref(const Call& call) {
  if (call.arguments.empty()) return {};
  const auto* ref = std::get_if<Ref>(&call.arguments.front().argument.value);
  return ref == nullptr ? std::string() : ref->name;
}

// The inputs that a program writes to, by the name of their value.
std::set<std::string> written_inputs(const ExportedProgram& program) {
  std::unordered_map<std::string, std::string> roots;
  const auto root_of = [&](const std::string& name) {
    const auto found = roots.find(name);
    return found == roots.end() ? name : found->second;
  };
  std::set<std::string> written;
  for (const Call& call : program.calls) {
    bool in_place = false;
    const OpEntry* entry = find_op(call.target, in_place);
    const bool writes = in_place && !is_view(entry->target);
    if (writes) written.insert(root_of(first_ref(call)));
    if (!in_place && !is_view(call.target)) continue;
    for (const std::string& result : call.results) roots[result] = root_of(first_ref(call));
  }
  for (const ProgramOutput& output : program.outputs) {
    if (!output.mutates_buffer) continue;
    for (const ProgramInput& input : program.inputs) {
      if (input.path == output.mutates) written.insert(input.name);
    }
  }
  return written;
}

class Importer {
 public:
  Importer(const ExportedProgram& program, const LeafElements& elements)
      : program_(program), elements_(elements), written_(written_inputs(program)) {
    result_.graph = Graph::shared();
    result_.guards = program.guards;
  }

  ImportedGraph all() {
    check_operators(program_);
    for (const ProgramInput& input : program_.inputs) add_input(input);
    for (const Call* call : needed_calls(program_)) {
      try {
        add_call(*call);
      } catch (const UserError& error) {
        throw UserError(fmt::format("{}: {}{}: {}", program_.source, call->target, place_of(*call),
                                    error.what()));
      }
    }
    for (const ProgramOutput& output : program_.outputs) add_output(output);
    for (const auto& [state, name] : states_) {
      if (!updated_.contains(name)) graph().update(state, tensor_in(read(name)));
    }
    return std::move(result_);
  }

 private:
  // A value by name: of a view, with the way to it from what it is a view of.
  struct Held {
    Value value;
    size_t storage = kNoStorage;
    uint64_t version = 0;
    std::vector<ViewStep> path = {};
  };
  // What tensors that share memory are views of.
  struct Storage {
    Tensor base;
    uint64_t version = 0;
    // The storage that this one may be part of, at which version, and those that may be part of it.
    size_t maybe_of = kNoStorage;
    uint64_t maybe_version = 0;
    std::vector<size_t> maybe_parts = {};
  };
  static constexpr size_t kNoStorage = ~size_t{0};

  Graph& graph() { return *result_.graph; }

  // What must be a tensor: of a damaged file it may be anything.
  static Tensor tensor_in(const Value& value) {
    if (const auto* tensor = std::get_if<Tensor>(&value.value)) return *tensor;
    throw UserError("what is written is no tensor");
  }

  void add_input(const ProgramInput& input) {
    if (input.role == InputRole::Literal) return;
    if (input.is_number) {
      names_[input.name] = {.value = input.dims[0]};
      return;
    }
    if (input.role == InputRole::Constant && elements_.literal) {
      if (auto data = elements_.literal(input.path)) {
        return hold(input.name, graph().literal(std::move(*data)));
      }
    }
    Tensor leaf;
    if (input.role == InputRole::User) {
      if (written_.contains(input.name)) {
        throw UserError(fmt::format(
            "{}: it writes to its input {}, which a graph can't: call clone() before, or "
            "run_decompositions() on what is exported, and the new value is an output",
            program_.source, io::quote(input.name)));
      }
      // A weight may have the name already: it has its path, the input the name of an argument.
      std::string name = input.name;
      while (graph().find_leaf(name)) name += "_";
      leaf = graph().input(name, input.dims, input.dtype);
      result_.inputs.push_back(name);
    } else {
      const bool is_state = written_.contains(input.name);
      leaf = is_state ? graph().state(input.path, input.dims, input.dtype)
                      : graph().weight(input.path, input.dims, input.dtype);
      DataLoader loader = elements_.loader ? elements_.loader(input.path) : nullptr;
      if (loader) leaf.set(std::move(loader));
      if (is_state) states_.emplace_back(leaf, input.name);
    }
    hold(input.name, leaf);
  }

  void hold(const std::string& name, const Tensor& tensor) {
    names_[name] = {.value = tensor, .storage = storages_.size()};
    storages_.push_back({.base = tensor});
  }

  // The value of a name now: of a view, after all that was written to what it is a view of.
  const Value& read(const std::string& name) {
    const auto found = names_.find(name);
    if (found == names_.end()) {
      throw UserError(fmt::format("there is no value {}", io::quote(name)));
    }
    Held& held = found->second;
    check_is_known(name, held);
    if (held.storage != kNoStorage && held.version != storages_[held.storage].version) {
      held.value = along(storages_[held.storage].base, held.path).back();
      held.version = storages_[held.storage].version;
    }
    return held.value;
  }

  // UserError where a value depends on whether two tensors share memory, which only strides say.
  void check_is_known(const std::string& name, const Held& held) const {
    if (held.storage == kNoStorage) return;
    bool known = true;
    for (size_t at = held.storage; known && at != kNoStorage; at = storages_[at].maybe_of) {
      const Storage& storage = storages_[at];
      known = storage.maybe_of == kNoStorage ||
              storages_[storage.maybe_of].version == storage.maybe_version;
    }
    for (size_t part : storages_[held.storage].maybe_parts) {
      known = known && storages_[part].version == 0;
    }
    if (known) return;
    throw UserError(fmt::format(
        "{} may share memory with a tensor that was written to, which depends on strides; call "
        "clone() before writing",
        io::quote(name)));
  }

  void write(const std::string& name, const Tensor& value) {
    Held& held = names_.at(name);
    Storage& storage = storages_[held.storage];
    storage.base = written_through(storage.base, held.path, value);
    ++storage.version;
  }

  Value resolved(const Argument& argument) {
    const auto& value = argument.value;
    if (const auto* ref = std::get_if<Ref>(&value)) return read(ref->name);
    if (const auto* flag = std::get_if<bool>(&value)) return *flag;
    if (const auto* integer = std::get_if<int64_t>(&value)) return Expr(*integer);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    if (const auto* word = std::get_if<std::string>(&value)) return *word;
    if (const auto* dtype = std::get_if<DType>(&value)) return *dtype;
    if (const auto* list = std::get_if<Argument::List>(&value)) {
      Value::List all;
      for (const Argument& each : *list) all.push_back(resolved(each));
      return all;
    }
    return {};
  }

  Values arguments_of(const Call& call, const OpEntry& entry) {
    const std::vector<Parameter> parameters = parameters_of(entry);
    std::vector<std::optional<Value>> given(parameters.size());
    size_t position = 0;
    for (const NamedArgument& each : call.arguments) {
      auto at = position++;
      if (!each.name.empty()) {
        const auto found = std::ranges::find(parameters, each.name, &Parameter::name);
        // What is written to is `self`, whatever its name is where nothing is.
        const bool is_self = at == 0 && found == parameters.end() && each.name == "self";
        if (!is_self) at = static_cast<size_t>(found - parameters.begin());
      }
      if (at >= parameters.size()) {
        throw UserError(fmt::format("its argument {} isn't known", io::quote(each.name)));
      }
      given[at] = resolved(each.argument);
    }
    Values all;
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (!given[i] && !parameters[i].otherwise) {
        throw UserError(fmt::format("its argument '{}' is missing", parameters[i].name));
      }
      all.push_back(given[i] ? std::move(*given[i]) : *parameters[i].otherwise);
    }
    return all;
  }

  void add_call(const Call& call) {
    bool in_place = false;
    const OpEntry* entry = find_op(call.target, in_place);
    LUMINAL_CHECK(entry != nullptr, "operators are checked first");
    const Values arguments = arguments_of(call, *entry);
    const size_t first_new = graph().size();
    const Values results = entry->build(Arguments(graph(), arguments));
    label_results(call, results, first_new);
    if (in_place && is_view(entry->target)) return change_view(call, *entry, arguments, results);
    if (in_place) return write_result(call, results);
    // Of results that only training reads there may be none.
    for (size_t i = 0; i < std::min(results.size(), call.results.size()); ++i) {
      hold_result(call, *entry, arguments, results, i);
    }
  }

  // What writes no elements but changes the dims of its argument: aten.squeeze_.dim.
  void change_view(const Call& call, const OpEntry& entry, const Values& arguments,
                   const Values& results) {
    const std::string name = first_ref(call);
    const auto found = names_.find(name);
    if (found == names_.end() || found->second.storage == kNoStorage) {
      throw UserError("it changes what is no tensor");
    }
    Held& held = found->second;
    if (held.path.size() >= kMostViews) {
      throw UserError(fmt::format("it is a view of {} views of views; call clone()", kMostViews));
    }
    held.path.push_back({.entry = &entry, .arguments = arguments, .result = 0});
    held.value = results[0];
    held.version = storages_[held.storage].version;
    const Held changed = held;
    for (const std::string& result : call.results) names_[result] = changed;
  }

  void hold_result(const Call& call, const OpEntry& entry, const Values& arguments,
                   const Values& results, size_t i) {
    const auto* tensor = std::get_if<Tensor>(&results[i].value);
    if (tensor == nullptr) {
      names_[call.results[i]] = {.value = results[i]};
      return;
    }
    const auto source = names_.find(first_ref(call));
    const bool stored = source != names_.end() && source->second.storage != kNoStorage;
    if (!stored || !is_view(call.target)) {
      hold(call.results[i], *tensor);
      if (stored && may_be_view(call.target)) {
        const size_t of = source->second.storage;
        storages_.back().maybe_of = of;
        storages_.back().maybe_version = storages_[of].version;
        storages_[of].maybe_parts.push_back(storages_.size() - 1);
      }
      return;
    }
    Held held = source->second;
    if (held.path.size() >= kMostViews) {
      throw UserError(fmt::format("it is a view of {} views of views; call clone()", kMostViews));
    }
    held.path.push_back({.entry = &entry, .arguments = arguments, .result = i});
    held.value = *tensor;
    names_[call.results[i]] = std::move(held);
  }

  void write_result(const Call& call, const Values& results) {
    const std::string name = first_ref(call);
    const auto found = names_.find(name);
    if (found == names_.end() || found->second.storage == kNoStorage) {
      throw UserError("it writes to what is no tensor");
    }
    const Tensor self = tensor_in(read(name));
    const Tensor value = tensor_in(results.empty() ? Value() : results[0]).cast(self.dtype());
    write(name, value.expand(self.dims()));
    read(name);
    for (const std::string& result : call.results) names_[result] = names_.at(name);
  }

  void add_output(const ProgramOutput& output) {
    const Value value = resolved(output.value);
    if (output.mutates_buffer) {
      for (const auto& [state, name] : states_) {
        if (state.node().as<InputAttr>().name != output.mutates) continue;
        graph().update(state, tensor_in(value));
        updated_.insert(name);
      }
      return;
    }
    const auto* ref = std::get_if<Ref>(&output.value.value);
    std::string name = !output.mutates.empty() ? output.mutates
                       : ref != nullptr        ? ref->name
                                               : fmt::format("output_{}", result_.outputs.size());
    if (const auto* tensor = std::get_if<Tensor>(&value.value)) return give(*tensor, name);
    if (const auto* size = std::get_if<Expr>(&value.value)) {
      return give(full(graph(), {}, Scalar(*size), DType::I64), name);
    }
    if (const auto* real = std::get_if<double>(&value.value)) {
      return give(full(graph(), {}, *real, DType::F64), name);
    }
    if (!value.is_none()) {
      throw UserError(fmt::format("{}: output {} is no tensor or number", program_.source,
                                  result_.outputs.size()));
    }
  }

  void give(const Tensor& tensor, std::string name) {
    while (std::ranges::count(result_.outputs, name) > 0) name += "_";
    tensor.output(name);
    result_.outputs.push_back(name);
  }

  const ExportedProgram& program_;
  const LeafElements& elements_;
  std::set<std::string> written_;
  ImportedGraph result_;
  std::unordered_map<std::string, Held> names_;
  std::vector<Storage> storages_;
  std::vector<std::pair<Tensor, std::string>> states_;  // with the names of their values
  std::set<std::string> updated_;
};

}  // namespace

ImportedGraph import_program(const ExportedProgram& program, const LeafElements& elements) {
  try {
    return Importer(program, elements).all();
  } catch (const UserError& error) {
    const std::string message = error.what();
    if (message.starts_with(program.source)) throw;
    throw UserError(fmt::format("{}: {}", program.source, message));
  }
}

ImportedGraph import_program(const ExportedProgram& program, const Pt2File& file) {
  const LeafElements elements{.loader = [&file](const std::string& path) -> DataLoader {
                                return [file, path] { return file.data(path); };
                              },
                              .literal = nullptr};
  return import_program(program, elements);
}

bool knows_operator(std::string_view target) {
  bool in_place = false;
  return find_op(target, in_place) != nullptr;
}

ImportedGraph import_pt2(const std::string& path) {
  const Pt2File file = Pt2File::open(path);
  return import_program(file.program(), file);
}

}  // namespace luminal::pytorch
