// A subcommand of the program: one file defines it, one line of program.cpp's table lists it.
#pragma once

namespace CLI {
class App;
}

namespace luminal::cli {

struct Command {
  const char* name;
  const char* summary;
  // Defines the subcommand's options and callback. Errors are thrown: run_program() turns them into
  // messages and exit codes.
  void (*define)(CLI::App& app);
  const char* examples = nullptr;  // for its help; null if define() sets them
  bool runs_models = false;        // its help shows compile options only with --help-all
};

void define_bench(CLI::App& app);
void define_cache(CLI::App& app);
void define_chat(CLI::App& app);
void define_compile(CLI::App& app);
void define_completion(CLI::App& app);
void define_debug_ops(CLI::App& app);
void define_doctor(CLI::App& app);
void define_egg(CLI::App& app);
void define_embed(CLI::App& app);
void define_explain(CLI::App& app);
void define_graph(CLI::App& app);
void define_inspect(CLI::App& app);
void define_man(CLI::App& app);
void define_rules(CLI::App& app);
void define_run(CLI::App& app);
void define_tokenize(CLI::App& app);
void define_tune(CLI::App& app);
void define_view(CLI::App& app);

}  // namespace luminal::cli
