#include "tests/driver/user_errors/mistakes.h"

namespace luminal {
namespace {

// A compiled y = x · w with x [s, 3] and w [3, 2].
struct Compiled {
  explicit Compiled(Graph& graph)
      : x(graph.input("x", {Expr::var("s", 1, 8), 3})),
        w(graph.weight("weight", {3, 2})),
        hidden(matmul(x, w)),
        y((hidden * 2.0).output("y")),
        exe(compile(graph)) {}
  void set_all() {
    exe.set(x, {{1, 2, 3}});
    exe.set(w, {{1, 2}, {3, 4}, {5, 6}});
  }
  Tensor x, w, hidden, y;
  Executable exe;
};

// A mistake with that graph; `set` first where all is well until then.
Mistake with_weights(const char* title, const std::function<void(Compiled&)>& make) {
  return {title, [make](Graph& g) {
            Compiled c(g);
            c.set_all();
            make(c);
          }};
}

}  // namespace

std::vector<Mistake> running_mistakes() {
  return {
      {"running without an input",
       [](Graph& g) {
         Compiled c(g);
         c.exe.set(c.w, {{1, 2}, {3, 4}, {5, 6}});
         c.exe.run({{"s", 1}});
       }},
      with_weights("running without a variable", [](Compiled& c) { c.exe.run(); }),
      with_weights("a variable out of bounds", [](Compiled& c) { c.exe.run({{"s", 9}}); }),
      with_weights("binding a variable the graph doesn't have",
                   [](Compiled& c) { c.exe.run({{"batch", 2}}); }),
      with_weights("an input of the wrong size for this run",
                   [](Compiled& c) { c.exe.run({{"s", 4}}); }),
      with_weights("setting a name that isn't there",
                   [](Compiled& c) { c.exe.set("wieght", {1, 2}); }),
      with_weights("getting a name that isn't there",
                   [](Compiled& c) { c.exe.get<float>("logits"); }),
      with_weights("setting an output by its name", [](Compiled& c) { c.exe.set("y", {1, 2}); }),
      with_weights("a weight with the wrong number of elements",
                   [](Compiled& c) { c.exe.set(c.w, std::vector<float>{1, 2}); }),
      with_weights("a nested list with the wrong dims",
                   [](Compiled& c) { c.exe.set("weight", {{1, 2, 3}, {4, 5, 6}}); }),
      with_weights("data of the wrong dtype",
                   [](Compiled& c) { c.exe.set(c.w, std::vector<int32_t>(6)); }),
      with_weights("a tensor of another graph",
                   [](Compiled& c) {
                     Graph other;
                     c.exe.set(other.input("x", {1, 3}), {{1, 2, 3}});
                   }),
      with_weights("a tensor that is younger than the executable",
                   [](Compiled& c) { c.exe.get<float>(c.y.relu().output("later")); }),
      with_weights("reading a tensor that wasn't kept",
                   [](Compiled& c) {
                     c.exe.run({{"s", 1}});
                     c.exe.get<float>(c.hidden);
                   }),
      with_weights("reading before running", [](Compiled& c) { c.exe.get<float>(c.y); }),
      with_weights("a view as another type",
                   [](Compiled& c) {
                     c.exe.run({{"s", 1}});
                     c.exe.view<double>("y");
                   }),
      with_weights("memory for an output that is too small",
                   [](Compiled& c) {
                     std::vector<float> memory(3);
                     c.exe.bind_output("y", memory);
                     c.exe.set("x", std::vector<float>(6));
                     c.exe.run({{"s", 2}});
                   }),
      with_weights("memory of another type for an output",
                   [](Compiled& c) {
                     std::vector<double> memory(16);
                     c.exe.bind_output("y", memory);
                   }),
      with_weights("memory for an input",
                   [](Compiled& c) {
                     std::vector<float> memory(24);
                     c.exe.bind_output("x", memory);
                   }),
      with_weights("an output over an input",
                   [](Compiled& c) {
                     static std::vector<float> memory(3);
                     c.exe.set("x", TensorData{.dtype = DType::F32,
                                               .dims = {1, 3},
                                               .bytes = std::as_bytes(std::span(memory)),
                                               .owner = nullptr});
                     c.exe.bind_output("y", memory);
                     c.exe.run({{"s", 1}});
                   }),
      with_weights("releasing a weight that runs read", [](Compiled& c) { c.exe.release(c.x); }),
      with_weights("an executable that was moved from",
                   [](Compiled& c) {
                     Executable taken = std::move(c.exe);
                     c.exe.run({{"s", 1}});  // NOLINT: the mistake
                   }),
      {"an index outside its table",
       [](Graph& g) {
         Tensor table = g.literal(NestedList{{1, 2}, {3, 4}});
         Tensor rows = embedding(table, g.literal(NestedList{0, 2}, DType::I64));
         rows.output("y");
         compile(g).run();
       }},
  };
}

}  // namespace luminal
