#include <fstream>

#include "tests/driver/user_errors/mistakes.h"

namespace luminal {
namespace {

// A file of this name that holds `text`, in the folder of the test.
std::string file_with(const std::string& name, const std::string& text) {
  std::ofstream(name) << text;
  return name;
}

}  // namespace

std::vector<Mistake> file_mistakes() {
  return {
      {"a file that isn't there", [](Graph&) { SafeTensors::open("absent.safetensors"); }},
      {"weights that the file hasn't got",
       [](Graph& g) {
         g.weight("layer.weight", {2});
         write_safetensors("one.safetensors",
                           {{"model.layer.weight", NestedList{1, 2}.data(DType::F32)}});
         load_weights(g, SafeTensors::open("one.safetensors"));
       }},
      {"a text for a .npy file", [](Graph&) { read_npy(file_with("text.npy", "1 2 3\n")); }},
      {"a text for a bundle", [](Graph&) { open_bundle(file_with("text.bundle", "1 2 3\n")); }},
      {"a bundle of the interpreter",
       [](Graph& g) {
         g.input("x", {2}).output("y");
         make_bundle(g, {.backend = {.name = "interp"}});
       }},
      {"a bundle in a folder that isn't there",
       [](Graph& g) {
         g.input("x", {2}).relu().output("y");
         save_bundle("absent/y.bundle", g);
       }},
      {"a graph file of another version",
       [](Graph&) { parse_graph("luminal-graph 99\n", "model.lum"); }},
      {"an expression that doesn't parse", [](Graph&) { parse_expr("s * (4 + "); }},
  };
}

}  // namespace luminal
