// luminal tune calibrate: fits the cost model to this machine.
#pragma once

namespace CLI {
class App;
}

namespace luminal::cli {

void define_tune_calibrate(CLI::App& app);

}  // namespace luminal::cli
