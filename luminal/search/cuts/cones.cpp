#include "luminal/search/cuts/cones.h"

#include <algorithm>
#include <bit>

#include "luminal/base/hash.h"

namespace luminal::search {
namespace {

using kernel::ClassId;
using kernel::Term;

using Key = std::vector<uint64_t>;

// Adds to a key what a term holds besides its operands.
struct Describe {
  const kernel::TermGraph& graph;
  Key& key;

  void add(const Dims& dims) {
    key.push_back(dims.size());
    for (Expr dim : dims) key.push_back(dim.id());
  }
  void operator()(const kernel::LoadTerm& t) {
    const kernel::Source& source = graph.sources[t.source];
    key.push_back(static_cast<uint64_t>(source.dtype));
    add(source.dims);
  }
  void operator()(const kernel::ConstTerm& t) {
    key.push_back(std::bit_cast<uint64_t>(t.real));
    key.push_back(std::bit_cast<uint64_t>(t.integer));
  }
  void operator()(const kernel::IotaTerm& t) { key.push_back(t.expr.id()); }
  void operator()(const kernel::ReindexTerm& t) {
    add(t.map.dims());
    add(t.map.source_dims());
    add(t.map.exprs());
  }
  void operator()(const kernel::ReduceTerm& t) { key.push_back(static_cast<uint64_t>(t.reducer)); }
  void operator()(const kernel::ScanTerm& t) { key.push_back(static_cast<uint64_t>(t.reducer)); }
  void operator()(const kernel::GatherTerm&) {}
  void operator()(const kernel::StoreAtTerm& t) {
    key.push_back(t.combine.has_value());
    if (t.combine) key.push_back(static_cast<uint64_t>(*t.combine));
  }
  void operator()(const kernel::OpTerm& t) {
    key.push_back(static_cast<uint64_t>(t.op));
    key.push_back(t.operands.size());
  }
};

// Kinds past those of terms: what a kernel stores, and a source that is a result as well. No kernel
// stores the latter, so kernels that read one or the other differ.
constexpr uint64_t kInMemory = std::variant_size_v<Term>;
constexpr uint64_t kSourceInMemory = kInMemory + 1;
constexpr uint32_t kMetBefore = 1u << 31;

Key type_key(uint64_t kind, const kernel::TermClass& value) {
  Key key = {kind, static_cast<uint64_t>(value.dtype), value.dims.size()};
  for (Expr dim : value.dims) key.push_back(dim.id());
  return key;
}

}  // namespace

size_t ConeReader::KeyHash::operator()(const std::vector<uint64_t>& key) const {
  uint64_t hash = key.size();
  for (uint64_t part : key) hash = base::combine(hash, part);
  return hash;
}

uint32_t ConeReader::intern(const std::vector<uint64_t>& key) {
  return numbers_.try_emplace(key, static_cast<uint32_t>(numbers_.size())).first->second;
}

ConeReader::ConeReader(const kernel::TermGraph& graph)
    : contents_(graph.classes.size()),
      position_(graph.classes.size(), 0),
      met_in_(graph.classes.size(), 0) {
  for (size_t i = 0; i < graph.classes.size(); ++i) {
    const kernel::TermClass& value = graph.classes[i];
    const bool is_source = std::ranges::any_of(value.terms, [](const Term& term) {
      return std::holds_alternative<kernel::LoadTerm>(term);
    });
    in_memory_.push_back(intern(type_key(is_source ? kSourceInMemory : kInMemory, value)));
    for (const Term& term : value.terms) {
      Key key = type_key(term.index(), value);
      std::visit(Describe{graph, key}, term);
      contents_[i].push_back({.number = intern(key),
                              .view = std::holds_alternative<kernel::ReindexTerm>(term),
                              .operands = kernel::operands(term)});
    }
  }
}

const Cone& ConeReader::read(ClassId root, const kernel::Choice& choice, int most_values) {
  ++calls_;
  cone_.classes.clear();
  cone_.form.clear();
  cone_.too_large = false;
  int values = 0;
  stack_.assign(1, root);
  while (!stack_.empty()) {
    const ClassId id = stack_.back();
    const size_t at = id.index();
    stack_.pop_back();
    if (met_in_[at] == calls_) {
      cone_.form.push_back(kMetBefore | position_[at]);
      continue;
    }
    met_in_[at] = calls_;
    position_[at] = static_cast<uint32_t>(cone_.classes.size());
    cone_.classes.push_back(id);
    if (choice.reads(root, id)) {
      cone_.form.push_back(in_memory_[at]);
      continue;
    }
    const Content& content = contents_[at][static_cast<size_t>(choice.term[at])];
    cone_.form.push_back(content.number);
    if (!content.view && ++values > most_values) {
      cone_.too_large = true;
      return cone_;
    }
    stack_.insert(stack_.end(), content.operands.rbegin(), content.operands.rend());
  }
  return cone_;
}

}  // namespace luminal::search
