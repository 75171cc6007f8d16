#include "luminal/egraph/snapshot.h"

#include "luminal/base/check.h"
#include "luminal/egraph/database/database.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace luminal::egraph {
namespace {

struct NodeRow {
  uint32_t class_id;
  uint32_t function;
  uint32_t row;
};

// The rows in the order of their node numbers.
std::vector<NodeRow> sorted_rows(const Database& database, const std::vector<ClassId>& class_of) {
  std::vector<NodeRow> rows;
  for (uint32_t f = 0; f < database.functions(); ++f) {
    if (database.schema.function(FunctionId{f}).kind != FunctionKind::Constructor) continue;
    const Table& table = database.table(FunctionId{f});
    for (uint32_t row = 0; row < table.rows(); ++row) {
      if (!table.alive(row)) continue;
      rows.push_back({.class_id = class_of[table.output(row)].value, .function = f, .row = row});
    }
  }
  std::sort(rows.begin(), rows.end(), [&](const NodeRow& a, const NodeRow& b) {
    if (a.class_id != b.class_id) return a.class_id < b.class_id;
    if (a.function != b.function) return a.function < b.function;
    const Table& table = database.table(FunctionId{a.function});
    return std::lexicographical_compare(table.row(a.row), table.row(a.row) + table.inputs(),
                                        table.row(b.row), table.row(b.row) + table.inputs());
  });
  return rows;
}

// Groups (class, item) pairs into one list per class, sorted and without duplicates.
template <typename Item, typename Class>
std::vector<Item> make_lists(std::vector<std::pair<uint32_t, Item>> pairs,
                             std::vector<Class>& classes, uint32_t Class::* first) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::vector<Item> items;
  items.reserve(pairs.size());
  size_t at = 0;
  for (uint32_t c = 0; c < classes.size(); ++c) {
    classes[c].*first = static_cast<uint32_t>(items.size());
    for (; at < pairs.size() && pairs[at].first == c; ++at) items.push_back(pairs[at].second);
  }
  return items;
}

}  // namespace

template <typename T>
std::span<const T> Snapshot::list(const std::vector<T>& items, uint32_t Class::* first,
                                  ClassId id) const {
  const size_t next = id.index() + 1;
  const size_t begin = classes_[id.index()].*first;
  const size_t end = next < classes_.size() ? classes_[next].*first : items.size();
  return std::span(items).subspan(begin, end - begin);
}

std::span<const Node> Snapshot::nodes_of(ClassId id) const {
  return list(nodes_, &Class::first_node, id);
}
std::span<const NodeId> Snapshot::parents(ClassId id) const {
  return list(parents_, &Class::first_parent, id);
}
std::span<const RuleId> Snapshot::rules_behind(ClassId id) const {
  return list(rules_, &Class::first_rule, id);
}

Snapshot take_snapshot(const Database& database) {
  LUMINAL_CHECK(database.ids().displaced().empty(), "a snapshot needs a rebuilt e-graph");
  Snapshot result;
  const UnionFind& ids = database.ids();
  result.class_of_.resize(ids.size());
  for (uint32_t id = 0; id < ids.size(); ++id) {
    const uint32_t root = ids.find(id);  // the smallest id of its class, so already visited
    if (root == id) {
      result.class_of_[id] = ClassId{static_cast<uint32_t>(result.classes_.size())};
      result.classes_.push_back({.sort = database.sort_of(Value{id}), .value = Value{id}});
    } else {
      result.class_of_[id] = result.class_of_[root];
    }
  }

  std::vector<std::pair<uint32_t, NodeId>> parents;
  for (const NodeRow& from : sorted_rows(database, result.class_of_)) {
    const Function& function = database.schema.function(FunctionId{from.function});
    const Table& table = database.table(FunctionId{from.function});
    const NodeId id{static_cast<uint32_t>(result.nodes_.size())};
    result.nodes_.push_back({.function = FunctionId{from.function},
                             .class_id = ClassId{from.class_id},
                             .origin = table.origin(from.row),
                             .subsumed = table.subsumed(from.row),
                             .first_child = static_cast<uint32_t>(result.children_.size()),
                             .child_count = static_cast<uint32_t>(table.inputs())});
    for (size_t i = 0; i < table.inputs(); ++i) {
      Child child{.class_id = {}, .value = Value{table.row(from.row)[i]}};
      if (database.is_equality(function.inputs[i])) {
        child.class_id = result.class_of_[child.value.index()];
        parents.emplace_back(child.class_id.value, id);
      } else if (database.holds_ids(function.inputs[i])) {
        database.for_each_id(child.value, function.inputs[i], [&](Value inner) {
          parents.emplace_back(result.class_of_[inner.index()].value, id);
        });
      }
      result.children_.push_back(child);
    }
  }
  size_t at = 0;
  for (uint32_t c = 0; c < result.classes_.size(); ++c) {
    result.classes_[c].first_node = static_cast<uint32_t>(at);
    while (at < result.nodes_.size() && result.nodes_[at].class_id.value == c) ++at;
  }
  result.parents_ = make_lists(std::move(parents), result.classes_, &Snapshot::Class::first_parent);

  std::vector<std::pair<uint32_t, RuleId>> rules;
  for (uint32_t id = 0; id < ids.size(); ++id) {
    if (ids.is_root(id)) continue;
    rules.emplace_back(result.class_of_[id].value,
                       database.displaced_by(Value{id}, database.sort_of(Value{id})));
  }
  result.rules_ = make_lists(std::move(rules), result.classes_, &Snapshot::Class::first_rule);
  return result;
}

}  // namespace luminal::egraph
