#include "luminal/search/terms/sum_primitives.h"

#include <functional>
#include <span>

#include "luminal/search/maps/gathered_product.h"
#include "luminal/search/maps/nested_sums.h"
#include "luminal/search/maps/view_behind.h"
#include "luminal/search/terms/term_primitives.h"
#include "luminal/search/terms/terms.h"

namespace luminal::search {
namespace {

using egraph::Constants;
using egraph::Value;
using Arguments = std::span<const Value>;

// Whether the view reads fewer dims than it has.
bool broadcasts(const IndexMap& map) { return map.source_dims().size() < map.dims().size(); }

}  // namespace

void add_sum_primitives(egraph::EGraph& egraph, HostValues& host) {
  const egraph::SortId map = egraph.sort("Map");
  const auto add = [&](const std::string& name, size_t inputs,
                       std::function<std::optional<Value>(std::span<const Value>)> answer) {
    egraph.add_primitive(
        name, std::vector(inputs, map), map,
        remembering([answer = std::move(answer)](Constants&, std::span<const Value> in) {
          return answer(in);
        }));
  };
  // The parts of an exchange: of one that multiplies less, or of any.
  const auto parts = [&](const std::string& prefix, bool any) {
    const auto part = [&](const char* name, IndexMap ExchangedSums::* of) {
      add(prefix + name, 4, [&host, of, any](std::span<const Value> in) -> std::optional<Value> {
        const NestedSums nested{host.map(in[0]), host.map(in[1]), host.map(in[2]), host.map(in[3])};
        const auto exchanged = exchange_sums(nested);
        if (!exchanged || !(any || multiplies_less(nested, *exchanged))) return std::nullopt;
        return host.of((*exchanged).*of);
      });
    };
    part("-left", &ExchangedSums::left);
    part("-inner", &ExchangedSums::inner);
    part("-right", &ExchangedSums::right);
    part("-other", &ExchangedSums::other);
  };
  parts("exchanged", false);
  parts("joined", true);
  add("identity-over", 1, [&host](std::span<const Value> in) -> std::optional<Value> {
    return host.of(IndexMap::identity(host.map(in[0]).dims()));
  });
  add("leaves-sum", 1, [&host](std::span<const Value> in) -> std::optional<Value> {
    const auto left = leave_sum(host.map(in[0]));
    if (!left) return std::nullopt;
    return host.of(*left);
  });
}

void add_weight_primitives(egraph::EGraph& egraph, HostValues& host) {
  const egraph::SortId map = egraph.sort("Map"), boolean = egraph.sort("bool");
  egraph.add_primitive("view-behind", {map, map}, map,
                       remembering([&host](Constants&, Arguments in) -> std::optional<Value> {
                         const auto view = view_behind(host.map(in[0]), host.map(in[1]));
                         if (!view) return std::nullopt;
                         return host.of(*view);
                       }));
  egraph.add_primitive("broadcasts", {map}, boolean,
                       [&host](Constants&, Arguments in) -> std::optional<Value> {
                         if (!broadcasts(host.map(in[0]))) return std::nullopt;
                         return Constants::boolean(true);
                       });
}

void add_gather_primitives(egraph::EGraph& egraph, HostValues& host) {
  const egraph::SortId map = egraph.sort("Map"), type = egraph.sort("Type");
  const auto part = [&](const char* name, IndexMap GatheredProduct::* of) {
    egraph.add_primitive(name, {map, map, type}, map,
                         remembering([&host, of](Constants&, Arguments in) -> std::optional<Value> {
                           const auto product = multiply_before_gather(
                               host.map(in[0]), host.map(in[1]), host.type(in[2]).dims);
                           if (!product) return std::nullopt;
                           return host.of((*product).*of);
                         }));
  };
  part("before-gather-table", &GatheredProduct::table);
  part("before-gather-weights", &GatheredProduct::weights);
  part("before-gather-result", &GatheredProduct::result);
}

}  // namespace luminal::search
