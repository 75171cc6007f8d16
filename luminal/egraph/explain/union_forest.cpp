#include "luminal/egraph/explain/union_forest.h"

#include "luminal/base/check.h"

namespace luminal::egraph {

UnionForest::UnionForest(std::span<const ProofLog::Union> unions, size_t ids)
    : trees_(ids, Value::kNone), parents_(ids, Value::kNone), depths_(ids), edges_(ids) {
  std::vector<uint32_t> starts(ids + 1);
  for (const ProofLog::Union& u : unions) {
    ++starts[u.a];
    ++starts[u.b];
  }
  uint32_t sum = 0;
  for (uint32_t& start : starts) start = sum += start;
  std::vector<uint32_t> ends(2 * unions.size());
  for (uint32_t i = 0; i < unions.size(); ++i) {
    ends[--starts[unions[i].a]] = i;
    ends[--starts[unions[i].b]] = i;
  }
  std::vector<uint32_t> open;
  for (uint32_t root = 0; root < ids; ++root) {
    if (trees_[root] != Value::kNone) continue;
    trees_[root] = root;
    open.push_back(root);
    while (!open.empty()) {
      const uint32_t id = open.back();
      open.pop_back();
      for (uint32_t e = starts[id]; e < starts[id + 1]; ++e) {
        const ProofLog::Union& u = unions[ends[e]];
        const uint32_t next = u.a == id ? u.b : u.a;
        if (trees_[next] != Value::kNone) continue;
        trees_[next] = root;
        parents_[next] = id;
        depths_[next] = depths_[id] + 1;
        edges_[next] = {.number = ends[e], .reversed = u.a == id};
        open.push_back(next);
      }
    }
  }
}

std::vector<UnionForest::Edge> UnionForest::path(uint32_t a, uint32_t b) const {
  LUMINAL_CHECK(connected(a, b), "the log of proofs has no path between equal terms");
  std::vector<Edge> there, back;
  while (a != b) {
    if (depths_[a] >= depths_[b]) {
      there.push_back(edges_[a]);
      a = parents_[a];
    } else {
      back.push_back({.number = edges_[b].number, .reversed = !edges_[b].reversed});
      b = parents_[b];
    }
  }
  there.insert(there.end(), back.rbegin(), back.rend());
  return there;
}

}  // namespace luminal::egraph
