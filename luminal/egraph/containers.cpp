#include "luminal/egraph/containers.h"

#include "luminal/base/check.h"
#include "luminal/egraph/union_find.h"

#include <utility>

namespace luminal::egraph {
namespace {

uint32_t hash_of(std::span<const Value> items) {
  uint64_t h = 0x9e3779b97f4a7c15ull;
  for (Value item : items) h = (h ^ item.value) * 0xff51afd7ed558ccdull + (h >> 29);
  return static_cast<uint32_t>((h ^ (h >> 32)) * 0x9e3779b1u);
}

bool same_items(std::span<const Value> a, std::span<const Value> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

std::string container_text(ContainerKind kind, std::span<const std::string> items) {
  std::string text;
  switch (kind) {
    case ContainerKind::Vec:
      if (items.empty()) return "(vec-empty)";
      text = "(vec-of";
      break;
    case ContainerKind::Set:
      text = "(set-of";
      break;
    case ContainerKind::Map:
      for (size_t i = 0; i < items.size(); i += 2) text += "(map-insert ";
      text += "(map-empty)";
      for (size_t i = 0; i < items.size(); i += 2)
        text += " " + items[i] + " " + items[i + 1] + ")";
      return text;
  }
  for (const std::string& item : items) text += " " + item;
  return text + ")";
}

const Containers::Store& Containers::store(SortId sort) const {
  LUMINAL_CHECK(is_container(sort), "this sort has no containers");
  return stores_[sort.index()];
}

Containers::Store& Containers::store(SortId sort) {
  return const_cast<Store&>(std::as_const(*this).store(sort));
}

void Containers::add_sort(SortId sort, ContainerShape shape) {
  LUMINAL_CHECK(stores_.size() <= sort.index(), "containers come in the order of their sorts");
  stores_.resize(sort.index() + 1);
  Store& added = stores_.back();
  added.slots.assign(16, Value::kNone);
  for (size_t i = 0; i < shape.elements.size(); ++i) {
    added.holds_ids |= shape.are_classes[i] || holds_ids(shape.elements[i]);
    added.depth = std::max(added.depth, 1 + depth(shape.elements[i]));
  }
  added.shape = std::move(shape);
  sorts_.push_back(sort);
}

bool Containers::can_be_displaced(const Store& store, size_t item) const {
  return is_class(store, item) ||
         holds_ids(store.shape.elements[item % store.shape.elements.size()]);
}

Value Containers::intern(SortId sort, std::span<const Value> items) {
  Store& into = store(sort);
  size_t at = hash_of(items) & (into.slots.size() - 1);
  for (; into.slots[at] != Value::kNone; at = (at + 1) & (into.slots.size() - 1)) {
    if (same_items(into.contents(into.slots[at]), items)) return Value{into.slots[at]};
  }
  const uint32_t id = static_cast<uint32_t>(into.size());
  LUMINAL_CHECK(id < Value::kNone && into.items.size() + items.size() < Value::kNone,
                "32-bit containers are used up");
  bytes_.add(64 + items.size() * (kBytesOfItem + (into.holds_ids ? kBytesOfUse : 0)));
  into.slots[at] = id;
  into.items.insert(into.items.end(), items.begin(), items.end());
  into.starts.push_back(static_cast<uint32_t>(into.items.size()));
  into.forwarded.emplace_back();
  into.displaced_ids.emplace_back();
  if (into.holds_ids) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (can_be_displaced(into, i)) into.users[items[i].value].push_back(id);
    }
  }
  if (2 * into.size() > into.slots.size()) grow(into);
  return Value{id};
}

void Containers::grow(Store& store) {
  const size_t size = 2 * store.slots.size();
  store.slots.assign(size, Value::kNone);
  for (uint32_t id = 0; id < store.size(); ++id) {
    size_t at = hash_of(store.contents(id)) & (size - 1);
    while (store.slots[at] != Value::kNone) at = (at + 1) & (size - 1);
    store.slots[at] = id;
  }
}

std::span<const Value> Containers::items(SortId sort, Value value) const {
  const Store& from = store(sort);
  LUMINAL_CHECK(value.index() < from.size(),
                "value " + std::to_string(value.value) + " is no container of this sort");
  return from.contents(value.index());
}

Value Containers::canonical(SortId sort, Value value) const {
  const Store& from = store(sort);
  while (from.forwarded[value.index()].valid()) value = from.forwarded[value.index()];
  return value;
}

bool Containers::has_unchecked() const {
  return std::any_of(sorts_.begin(), sorts_.end(), [this](SortId sort) {
    const Store& one = stores_[sort.index()];
    return one.holds_ids && one.checked < one.size();
  });
}

void Containers::refresh(const UnionFind& ids, std::span<const uint32_t> displaced) {
  for (SortId sort : sorts_) {
    Store& one = stores_[sort.index()];
    if (one.holds_ids) refresh(one, ids, displaced);
  }
}

// A new container is checked completely: it may have been built from stale ids.
void Containers::refresh(Store& store, const UnionFind& ids, std::span<const uint32_t> displaced) {
  std::vector<uint32_t> candidates;
  for (size_t i = 0; i < store.shape.elements.size(); ++i) {
    if (!can_be_displaced(store, i)) continue;
    const std::span<const uint32_t> gone =
        is_class(store, i) ? displaced : this->displaced(store.shape.elements[i]);
    for (uint32_t value : gone) {
      const auto users = store.users.find(value);
      if (users == store.users.end()) continue;
      candidates.insert(candidates.end(), users->second.begin(), users->second.end());
      store.users.erase(users);  // a displaced value never comes back
    }
  }
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  const auto first_unchecked =
      std::lower_bound(candidates.begin(), candidates.end(), static_cast<uint32_t>(store.checked));
  candidates.erase(first_unchecked, candidates.end());
  for (size_t id = store.checked; id < store.size(); ++id) {
    candidates.push_back(static_cast<uint32_t>(id));
  }
  store.displaced.clear();
  for (uint32_t candidate : candidates) check(store, ids, candidate);
  store.checked = store.size();
}

void Containers::check(Store& store, const UnionFind& ids, uint32_t container) {
  if (store.forwarded[container].valid()) return;
  const std::span<const Value> old = store.contents(container);
  std::vector<Value> items(old.begin(), old.end());
  Value why;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!can_be_displaced(store, i)) continue;
    const SortId sort = store.shape.elements[i % store.shape.elements.size()];
    const Value now =
        is_class(store, i) ? Value{ids.find(items[i].value)} : canonical(sort, items[i]);
    if (now == items[i]) continue;
    if (!why.valid()) why = is_class(store, i) ? items[i] : displaced_id(sort, items[i]);
    items[i] = now;
  }
  if (!why.valid()) return;
  const bool has_keys = store.shape.kind != ContainerKind::Vec;
  if (has_keys && can_be_displaced(store, 0)) {
    items = in_key_order(items, store.shape.elements.size(),
                         [](Value a, Value b) { return a.value < b.value; });
  }
  const SortId own{static_cast<uint32_t>(&store - stores_.data())};
  const Value now = intern(own, items);
  store.forwarded[container] = now;
  store.displaced_ids[container] = why;
  store.displaced.push_back(container);
}

}  // namespace luminal::egraph
