// Which facts, unions and terms must be explained for two values to be equal at a time.
#include "luminal/egraph/explain/explainer.h"

#include "luminal/base/check.h"
#include "luminal/base/errors.h"

namespace luminal::egraph {

void Explainer::need_term(Value id) {
  if (id.index() >= database_.ids().size()) {
    const ProofTerm& term = asked_[id.index() - database_.ids().size()].term;
    const Function& function = database_.schema.function(term.function);
    for (size_t i = 0; i < term.arguments.size(); ++i) {
      need_terms(term.arguments[i], function.inputs[i]);
    }
    return;
  }
  if (terms_.insert(id.value).second) open_terms_.push_back(id);
}

void Explainer::need_equal(Value a, Value b, SortId sort, uint32_t before) {
  if (a == b) return;
  if (database_.is_equality(sort)) {
    for (const auto& edge : forest_.path(a.value, b.value)) {
      LUMINAL_CHECK(edge.number < before, "an explanation would rest on what came later");
      need_union(edge.number);
    }
    return;
  }
  LUMINAL_CHECK(database_.holds_ids(sort), "different constants can't be equal");
  const Containers& containers = database_.constants.containers;
  const auto items_a = containers.items(sort, a), items_b = containers.items(sort, b);
  if (containers.shape(sort).kind == ContainerKind::Vec) {
    LUMINAL_CHECK(items_a.size() == items_b.size(), "vectors of two lengths can't be equal");
    for (size_t i = 0; i < items_a.size(); ++i) {
      need_equal(items_a[i], items_b[i], containers.item_sort(sort, i), before);
    }
    return;
  }
  need_entries(items_a, items_b, sort, before);
  need_entries(items_b, items_a, sort, before);
}

void Explainer::need_entries(std::span<const Value> all, std::span<const Value> in, SortId sort,
                             uint32_t before) {
  const Containers& containers = database_.constants.containers;
  const size_t width = containers.shape(sort).elements.size();
  for (size_t i = 0; i < all.size(); i += width) {
    const auto at = past_.find_entry(all.subspan(i, width), in, sort, before);
    if (!at) {
      throw UserError("maps whose keys became equal aren't explained yet");
    }
    for (size_t c = 0; c < width; ++c) {
      need_equal(all[i + c], in[*at + c], containers.item_sort(sort, c), before);
    }
  }
}

}  // namespace luminal::egraph
