// luminal tune fusion: measures whether fusing pays, for later compiles.
#pragma once

namespace CLI {
class App;
}

namespace luminal::cli {

void define_tune_fusion(CLI::App& app);

}  // namespace luminal::cli
