// luminal bench fusion: compares fusion policies by running a whole model.
#pragma once

namespace CLI {
class App;
}

namespace luminal::cli {

void define_bench_fusion(CLI::App& app);

}  // namespace luminal::cli
