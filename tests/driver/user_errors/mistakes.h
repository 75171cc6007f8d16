// Mistakes that users make, each as a few lines that must end in a UserError.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "luminal/luminal.h"

namespace luminal {

struct Mistake {
  const char* title;
  std::function<void(Graph&)> make;  // with a graph of its own
};

// By where they are made.
std::vector<Mistake> building_mistakes();   // ops, dims, dtypes
std::vector<Mistake> graph_mistakes();      // names, states, graphs, custom ops
std::vector<Mistake> compiling_mistakes();  // options of compile()
std::vector<Mistake> running_mistakes();    // set, run, get
std::vector<Mistake> file_mistakes();

}  // namespace luminal
