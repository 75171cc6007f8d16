// One step after another, each adding a few nodes on top of what is there. A step whose arguments
// turn out not to fit (a reshape that can't be proved, say) is a UserError, and another one is
// taken; what it left behind is dead code, which a compiler meets too.
#include "tests/support/random_graph.h"

#include "luminal/base/errors.h"
#include "luminal/graph/traverse.h"
#include "tests/support/random_steps.h"

namespace luminal::tests {
namespace {

void choose_variables(RandomTensors& from) {
  static const char* const kNames[] = {"s", "t", "u"};
  const int64_t count = from.random.chance(0.4) ? 0 : from.random.between(1, 3);
  for (int64_t k = 0; k < count; ++k) {
    const int64_t least = from.random.below(2);
    from.variables.push_back(Expr::var(kNames[k], least, from.random.between(3, 20)));
  }
}

void add_first_leaves(RandomTensors& from) {
  const int64_t leaves = from.random.between(1, 3);
  for (int64_t k = 0; k < leaves; ++k) steps::another_leaf(from);
  const int64_t states = from.random.chance(0.25) ? from.random.between(1, 2) : 0;
  for (int64_t k = 0; k < states; ++k) {
    const Dims dims = from.random_dims();
    from.add(from.graph.state("state" + std::to_string(k), dims, from.random_dtype()));
  }
}

void step(RandomTensors& from) {
  static constexpr struct {
    int weight;
    void (*step)(RandomTensors&);
  } kSteps[] = {{14, steps::unary},   {16, steps::binary},     {4, steps::integer_binary},
                {5, steps::compare},  {6, steps::select},      {6, steps::cast},
                {1, steps::bitcast},  {18, steps::view},       {9, steps::reduce},
                {3, steps::scan},     {4, steps::gather},      {3, steps::scatter},
                {4, steps::join},     {4, steps::padded},      {2, steps::iota},
                {1, steps::custom},   {2, steps::composite},   {1, steps::packed},
                {2, steps::raw_view}, {2, steps::another_leaf}};
  int total = 0;
  for (const auto& entry : kSteps) total += entry.weight;
  int64_t choice = from.random.below(total);
  for (const auto& entry : kSteps) {
    choice -= entry.weight;
    if (choice >= 0) continue;
    try {
      entry.step(from);
    } catch (const UserError&) {
    }
    return;
  }
}

void update_states(RandomTensors& from) {
  const std::vector<NodeId> leaves = from.graph.leaves();  // a new value may bring its own
  for (NodeId id : leaves) {
    const Node& node = from.graph.node(id);
    if (node.as<InputAttr>().role != Role::State || from.random.chance(0.2)) continue;
    const Tensor state = from.graph.tensor(id);
    from.graph.update(state, from.partner(state));
  }
}

// What nothing reads yet, so that most of the graph is alive; and now and then an inner value.
void choose_outputs(RandomTensors& from) {
  const auto readers = consumers(from.graph);
  std::vector<Tensor> outputs;
  for (size_t k = from.pool.size(); k-- > 0 && outputs.size() < 4;) {
    const bool last = readers[from.pool[k].id().index()].empty();
    if (from.random.chance(last ? 0.85 : 0.05)) outputs.push_back(from.pool[k]);
  }
  if (outputs.empty()) outputs.push_back(from.pool.front());
  for (Tensor& x : outputs) {
    // No kernel writes u4, and nothing but a reader makes use of it.
    if (x.dtype() == DType::U4) x = x.cast(DType::U8);
    x.output("y" + std::to_string(&x - outputs.data()));
  }
}

}  // namespace

RandomGraph random_graph(RandomSource& random, const RandomGraphOptions& options) {
  auto graph = std::make_unique<Graph>();
  RandomTensors from(random, *graph, options.most_elements);
  choose_variables(from);
  add_first_leaves(from);
  const auto wanted = static_cast<size_t>(random.between(options.least_nodes, options.most_nodes));
  for (int attempts = 0; graph->size() < wanted && attempts < 400; ++attempts) step(from);
  update_states(from);
  choose_outputs(from);
  return {std::move(graph), std::move(from.variables)};
}

}  // namespace luminal::tests
