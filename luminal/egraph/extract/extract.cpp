#include "luminal/egraph/extract/extract.h"

#include "luminal/base/check.h"
#include "luminal/base/errors.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace luminal::egraph {
namespace {

uint64_t add_costs(uint64_t a, uint64_t b) {
  constexpr uint64_t kMost = Extraction::kNoTerm - 1;
  return a > kMost - b ? kMost : a + b;
}

void check_cost(uint64_t cost) {
  constexpr uint64_t kMostPrinted = 10'000'000;
  if (cost <= kMostPrinted) return;
  throw UserError("the cheapest term costs " + std::to_string(cost) +
                  ", too much to print as a tree; walk a snapshot instead");
}

// Writes terms with an explicit stack: terms can be as deep as the e-graph is large.
class TermWriter {
 public:
  TermWriter(const Database& database, const Snapshot& snapshot, const Extraction& extraction)
      : database_(database), snapshot_(snapshot), extraction_(extraction) {}

  std::string write(Value value, SortId sort) {
    left_.push_back({.text = "", .value = value, .sort = sort});
    return finish();
  }

  std::string write(const Node& node) {
    add_node(node);
    return finish();
  }

 private:
  struct Piece {
    const char* text;  // used if there is no value
    Value value = {};
    SortId sort = {};
  };

  std::string finish() {
    constexpr size_t kMostText = size_t{128} << 20;
    while (!left_.empty()) {
      if (out_.size() > kMostText) {
        throw UserError("the cheapest term takes more than " + std::to_string(kMostText) +
                        " bytes to print; walk a snapshot instead");
      }
      const Piece piece = left_.back();
      left_.pop_back();
      if (!piece.sort.valid()) {
        out_ += piece.text;
      } else if (database_.is_equality(piece.sort)) {
        const NodeId best = extraction_.best(snapshot_.class_of(piece.value));
        LUMINAL_CHECK(best.valid(), "a class without a finite term was extracted");
        add_node(snapshot_.node(best));
      } else if (database_.is_container(piece.sort)) {
        add_container(piece.value, piece.sort);
      } else {
        out_ += database_.print(piece.value, piece.sort);
      }
    }
    return std::move(out_);
  }

  void add_node(const Node& node) {
    const Function& function = database_.schema.function(node.function);
    const std::span<const Child> children = snapshot_.children(node);
    out_ += "(" + function.name;
    left_.push_back({.text = ")"});
    for (size_t i = children.size(); i-- > 0;) {
      add_value(
          children[i].class_id.valid() ? snapshot_.value(children[i].class_id) : children[i].value,
          function.inputs[i]);
    }
  }

  void add_value(Value value, SortId sort) {
    left_.push_back({.text = "", .value = value, .sort = sort});
    left_.push_back({.text = " "});
  }

  void add_container(Value value, SortId sort) {
    const Containers& containers = database_.constants.containers;
    const std::span<const Value> items = containers.items(sort, value);
    const ContainerKind kind = containers.shape(sort).kind;
    if (kind == ContainerKind::Map) {
      for (size_t i = 0; i < items.size(); i += 2) out_ += "(map-insert ";
      out_ += "(map-empty)";
    } else if (kind == ContainerKind::Vec && items.empty()) {
      out_ += "(vec-empty)";
      return;
    } else {
      out_ += kind == ContainerKind::Vec ? "(vec-of" : "(set-of";
      left_.push_back({.text = ")"});
    }
    for (size_t i = items.size(); i-- > 0;) {
      if (kind == ContainerKind::Map && i % 2 == 1) left_.push_back({.text = ")"});
      add_value(items[i], containers.item_sort(sort, i));
    }
  }

  const Database& database_;
  const Snapshot& snapshot_;
  const Extraction& extraction_;
  std::vector<Piece> left_;  // a stack: the next piece is last
  std::string out_;
};

}  // namespace

Extraction::Extraction(const Snapshot& snapshot, const Database& database)
    : snapshot_(snapshot),
      database_(database),
      costs_(snapshot.classes(), kNoTerm),
      best_(snapshot.classes()) {
  settle_classes(
      snapshot, [this](const Node& node) { return cost(node); },
      [this](ClassId id, NodeId node, uint64_t least) {
        best_[id.index()] = node;
        costs_[id.index()] = least;
      });
}

uint64_t Extraction::cost(Value value, SortId sort) const {
  if (database_.is_equality(sort)) return cost(snapshot_.class_of(value));
  if (!database_.is_container(sort)) return 1;
  ContainerCosts known;
  return container_cost(value, sort, known);
}

// Memoised per call: the number of paths to a nested container can be exponential.
uint64_t Extraction::container_cost(Value value, SortId sort, ContainerCosts& known) const {
  uint64_t sum = 0;
  const Containers& containers = database_.constants.containers;
  for (size_t i = 0; const Value item : containers.items(sort, value)) {
    const SortId item_sort = containers.item_sort(sort, i++);
    uint64_t item_cost = 0;
    if (database_.is_container(item_sort)) {
      const uint64_t key = uint64_t{item_sort.value} << 32 | item.value;
      const auto found = known.find(key);
      item_cost = found != known.end() ? found->second : container_cost(item, item_sort, known);
      known[key] = item_cost;
    } else {
      item_cost = cost(item, item_sort);
    }
    if (item_cost == kNoTerm) return kNoTerm;
    sum = add_costs(sum, item_cost);
  }
  return sum;
}

uint64_t Extraction::cost(const Node& node) const {
  const Function& function = database_.schema.function(node.function);
  if (!function.extractable || node.subsumed) return kNoTerm;
  uint64_t sum = function.cost;
  for (size_t i = 0; const Child& child : snapshot_.children(node)) {
    const uint64_t child_cost =
        child.class_id.valid() ? cost(child.class_id) : cost(child.value, function.inputs[i]);
    if (child_cost == kNoTerm) return kNoTerm;
    sum = add_costs(sum, child_cost);
    ++i;
  }
  return sum;
}

void fail_without_term(const Database& database, Value value, SortId sort) {
  throw UserError((database.is_equality(sort) ? "class " : "") +
                  database.print(database.canonical(value, sort), sort) + " of sort " +
                  database.schema.sort(sort).name +
                  " has no finite term of extractable constructors");
}

TermExtractor::TermExtractor(const Database& database)
    : database_(database), snapshot_(take_snapshot(database)), extraction_(snapshot_, database) {}

std::string TermExtractor::term(Value value, SortId sort) const {
  const uint64_t total = cost(value, sort);
  if (total == Extraction::kNoTerm) fail_without_term(database_, value, sort);
  check_cost(total);
  return TermWriter(database_, snapshot_, extraction_).write(value, sort);
}

const std::string& TermExtractor::head(Value value) const {
  const NodeId best = extraction_.best(snapshot_.class_of(value));
  LUMINAL_CHECK(best.valid(), "a class without a finite term has no head");
  return database_.schema.function(snapshot_.node(best).function).name;
}

std::string TermExtractor::term_or(Value value, SortId sort, const std::string& otherwise) const {
  return cost(value, sort) == Extraction::kNoTerm ? otherwise : term(value, sort);
}

std::vector<std::string> TermExtractor::variants(Value value, SortId sort, uint64_t count) const {
  if (!database_.is_equality(sort)) return {term(value, sort)};
  std::vector<std::tuple<uint64_t, std::string, const Node*>> nodes;
  for (const Node& node : snapshot_.nodes_of(snapshot_.class_of(value))) {
    const Function& function = database_.schema.function(node.function);
    const uint64_t total = extraction_.cost(node);
    if (total != Extraction::kNoTerm) nodes.emplace_back(total, function.name, &node);
  }
  if (nodes.empty()) return {term(value, sort)};  // throws, with the reason
  std::sort(nodes.begin(), nodes.end());
  if (nodes.size() > count) nodes.resize(count);
  std::vector<std::string> terms;
  for (const auto& [total, name, node] : nodes) {
    check_cost(total);
    terms.push_back(TermWriter(database_, snapshot_, extraction_).write(*node));
  }
  return terms;
}

}  // namespace luminal::egraph
