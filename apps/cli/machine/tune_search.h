// luminal tune MODEL|GRAPH: searches plans by measuring, for later compiles.
#pragma once

namespace CLI {
class App;
}

namespace luminal::cli {

// Defines the positional and the options of `luminal tune` itself, beside its subcommands.
void define_tune_search(CLI::App& app);

}  // namespace luminal::cli
