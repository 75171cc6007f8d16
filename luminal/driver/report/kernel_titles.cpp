#include "luminal/driver/report/kernel_titles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "luminal/driver/report/op_words.h"

namespace luminal {
namespace {

using kernel::ClassId;

constexpr const char* kTensors[] = {"weight", "bias"};  // of a layer, after its path

// "a.b" of "a.b.weight", and of the planes of a quantised weight, "a.b.weight.scale".
std::string layer_of(const std::string& name) {
  for (const char* tensor : kTensors) {
    const std::string part = fmt::format(".{}", tensor);
    const size_t at = name.rfind(part);
    if (at == name.npos) continue;
    const size_t end = at + part.size();
    if (end == name.size() || name[end] == '.') return name.substr(0, at);
  }
  return name;
}

std::string scope_of(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == path.npos ? "" : path.substr(0, dot);
}

// The longest path that both begin with.
std::string common_scope(const std::string& a, const std::string& b) {
  size_t end = 0;
  for (size_t i = 0; i <= std::min(a.size(), b.size()); ++i) {
    const bool a_ends = i == a.size() || a[i] == '.', b_ends = i == b.size() || b[i] == '.';
    if (a_ends && b_ends) end = i;
    if (i == a.size() || i == b.size() || a[i] != b[i]) break;
  }
  return a.substr(0, end);
}

void add_new(std::vector<std::string>& list, std::string text) {
  if (!std::ranges::count(list, text)) list.push_back(std::move(text));
}

// Layers that read their weights as matrices say what a kernel does; scales and biases don't, where
// there are such.
struct NamedReads {
  std::vector<std::string> matrices, others;
  const std::vector<std::string>& telling() const { return matrices.empty() ? others : matrices; }
};

std::string title_of(const std::string& scope,
                     std::initializer_list<const std::vector<std::string>*> sections) {
  std::string text;
  for (const auto* words : sections) {
    if (words->empty()) continue;
    text += fmt::format("{}{}", text.empty() ? "" : " → ", fmt::join(*words, " · "));
  }
  return scope.empty() || text.empty() ? text : fmt::format("{}: {}", scope, text);
}

// Most models hold all layers under one name, which tells nothing.
std::string without_root(const std::string& name) {
  constexpr std::string_view kRoot = "model.";
  return name.starts_with(kRoot) ? name.substr(kRoot.size()) : name;
}

bool is_literal(const std::string& name) { return name.starts_with("literal."); }

}  // namespace

KernelTitles::KernelTitles(const Graph& graph, const kernel::PlannedGraph& planned)
    : graph_(graph), planned_(planned), forms_(graph) {
  name_values();
  IdVector<kernel::StepId, Parts> parts;
  for (const auto& step : planned.plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    const bool computes = kernel != nullptr && kernel->packs.empty();
    parts.push_back(computes ? parts_of(kernel->lowered) : Parts());
  }
  borrow_scopes(parts);
  for (const Parts& of : parts) {
    titles_.push_back(title_of(of.scope, {&of.before, &of.named, &of.after, &of.stored}));
  }
}

void KernelTitles::name_values() {
  for (uint32_t id = 0; id < planned_.class_of.size(); ++id) {
    const ClassId value = planned_.class_of[id];
    if (value.valid()) nodes_[value].push_back(NodeId{id});
  }
  for (const auto& step : planned_.plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr || kernel->packs.empty()) continue;
    // What is packed is named as messages name a leaf, in quotes.
    std::string name = kernel->packs;
    std::erase(name, '\'');
    for (ClassId packed : kernel::stored_by(kernel->lowered)) names_[packed] = without_root(name);
  }
  const auto name_node = [&](NodeId node, const std::string& name) {
    const ClassId value = planned_.class_of[node.index()];
    if (!value.valid() || name.empty() || is_literal(name)) return;
    names_.emplace(value, without_root(name));
  };
  for (const StateUpdate& update : graph_.updates()) {
    name_node(update.value, graph_.node(update.state).as<InputAttr>().name);
  }
  for (const Output& output : graph_.outputs()) name_node(output.node, output.name);
  for (NodeId leaf : graph_.leaves()) {
    const auto& attribute = graph_.node(leaf).as<InputAttr>();
    if (attribute.role != Role::Input) name_node(leaf, attribute.name);
  }
}

KernelTitles::Parts KernelTitles::parts_of(const kernel::LoweredKernel& lowered) const {
  NamedReads reads;
  std::vector<std::string> stored;
  for (kernel::ParamId p : lowered.origins.ids()) {
    const auto name = names_.find(lowered.origins[p].value);
    if (name == names_.end()) continue;
    const kernel::Param& param = lowered.kernel.params[p];
    if (param.output) {
      add_new(stored, name->second);
    } else {
      add_new(param.dims.size() > 1 ? reads.matrices : reads.others, layer_of(name->second));
    }
  }
  std::vector<NodeId> computed;
  for (ClassId id : lowered.classes) {
    const auto found = nodes_.find(id);
    if (found != nodes_.end()) computed.push_back(found->second.front());
  }
  std::vector<NodeId> results;
  for (ClassId id : kernel::stored_by(lowered)) {
    const auto found = nodes_.find(id);
    if (found != nodes_.end()) results.push_back(found->second.front());
  }
  std::ranges::sort(computed);
  // What is updated in place is read, too.
  std::vector<std::string> telling = reads.telling();
  std::erase_if(telling, [&](const std::string& name) { return std::ranges::count(stored, name); });
  Parts parts;
  const OpWords words = op_words(forms_, computed, results, reads.matrices.size());
  parts.before = words.before;
  parts.after = words.after;
  for (const std::string& name : stored) telling.push_back(name);
  if (telling.empty()) return parts;
  parts.scope = scope_of(telling.front());
  for (const std::string& name : telling) parts.scope = common_scope(parts.scope, scope_of(name));
  const size_t skipped = parts.scope.empty() ? 0 : parts.scope.size() + 1;
  for (size_t i = 0; i < telling.size(); ++i) {
    const bool is_read = i + stored.size() < telling.size();
    add_new(is_read ? parts.named : parts.stored, telling[i].substr(skipped));
  }
  return parts;
}

// A kernel of which nothing has a name belongs to the layer that reads it.
void KernelTitles::borrow_scopes(IdVector<kernel::StepId, Parts>& parts) const {
  std::map<ClassId, std::vector<kernel::StepId>> readers;
  const auto each_param = [&](kernel::StepId step, auto visit) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&planned_.plan.at(step));
    if (kernel == nullptr) return;
    for (kernel::ParamId p : kernel->lowered.origins.ids()) {
      visit(kernel->lowered.origins[p].value, kernel->lowered.kernel.params[p].output);
    }
  };
  for (kernel::StepId step : parts.ids()) {
    each_param(step, [&](ClassId value, bool output) {
      if (!output) readers[value].push_back(step);
    });
  }
  for (size_t number = parts.size(); number-- > 0;) {
    const auto step = kernel::StepId::at(number);
    each_param(step, [&](ClassId value, bool output) {
      Parts& own = parts[step];
      if (!output || !own.named.empty() || !own.stored.empty() || !readers.contains(value)) return;
      own.scope = parts[readers.at(value).front()].scope;
    });
  }
}

std::string common_title(const std::vector<std::string>& titles) {
  if (titles.empty()) return "";
  // Numbers and what is between them, in turns.
  const auto pieces_of = [](const std::string& text) {
    std::vector<std::string> pieces(1);
    bool in_number = false;
    for (char c : text) {
      if ((std::isdigit(static_cast<unsigned char>(c)) != 0) != in_number) {
        in_number = !in_number;
        pieces.emplace_back();
      }
      pieces.back() += c;
    }
    return pieces;
  };
  std::vector<std::string> common = pieces_of(titles.front());
  for (const std::string& title : titles) {
    const std::vector<std::string> pieces = pieces_of(title);
    if (pieces.size() != common.size()) return titles.front();
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (pieces[i] == common[i]) continue;
      if (i % 2 == 0) return titles.front();
      common[i] = "*";
    }
  }
  return fmt::format("{}", fmt::join(common, ""));
}

}  // namespace luminal
