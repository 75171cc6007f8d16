#include "apps/cli/program.h"

#include "apps/cli/help/help_text.h"
#include "apps/cli/help/usage_message.h"
#include "apps/cli/options/command.h"
#include "apps/cli/options/compile_options.h"
#include "apps/cli/options/search_options.h"
#include "luminal/base/errors.h"
#include "luminal/base/text/printable.h"
#include "luminal/version.h"

#include <CLI/CLI.hpp>

#include <exception>
#include <iostream>
#include <new>
#include <string>

namespace luminal::cli {
namespace {

constexpr int kFailed = 1;    // the user or the machine
constexpr int kUsage = 2;     // the command line
constexpr int kInternal = 3;  // a bug in luminal

constexpr const char* kExamples = R"(Examples:
  luminal run model.gguf                          talk with a model
  luminal run model.gguf -p "Hello" -n 100        one answer of at most 100 tokens
  luminal inspect model.gguf                      what a model is, and whether it runs here
  luminal doctor                                  whether all is well with this machine
luminal COMMAND --help has more.
)";

constexpr Command kCommands[] = {
    {"run", "Run a language model on a prompt; or run a graph, trace it and check every kernel",
     define_run, R"(Examples:
  luminal run model.gguf                          a chat, on a terminal
  luminal run model.gguf -p "Why is the sky blue?" -n 200
  luminal run model.gguf -p "Summarise this:" < notes.txt
  luminal run model.gguf -f prompt.txt --greedy   the same text each time
  luminal run graph.lum --bind s=16 --runs 10     a graph, ten times
)",
     true},
    {"chat", "Talk with a language model", define_chat, R"(Examples:
  luminal chat model.gguf
  luminal chat model.gguf --system "Answer in one sentence." --temperature 0.5
  luminal chat model.gguf -q < questions.txt      a line is a message
In a chat /help lists what can be typed.
)",
     true},
    {"embed", "Turn texts into vectors, or compare them", define_embed, R"(Examples:
  luminal embed minilm-l6-v2 "a text" "another"
  luminal embed minilm-l6-v2 --similarity "a cat" "a kitten" "a bridge"
  luminal embed minilm-l6-v2 --file texts.txt > vectors.jsonl
)"},
    {"tokenize", "Convert text to a model's token ids, or back", define_tokenize, R"(Examples:
  luminal tokenize model.gguf -p "Hello, world"
  luminal tokenize model.gguf --ids notes.txt
  echo 15496 11 995 | luminal tokenize tokenizer.json --decode
)"},
    {"inspect", "Show what a model's file or folder holds, and whether it runs here",
     define_inspect,
     R"(Examples:
  luminal inspect model.gguf
  luminal inspect model.gguf --json | jq .metadata
)"},
    {"doctor", "Show what this machine offers, and what to fix", define_doctor, R"(Examples:
  luminal doctor
  luminal doctor --no-measure --json
)"},
    {"cache", "Show or clear the compiled kernels on disk", define_cache, R"(Examples:
  luminal cache stats
  luminal cache clear
)"},
    {"compile", "Compile a graph and report the result", define_compile, R"(Examples:
  luminal compile graph.lum --report
  luminal compile graph.lum --print-after plan
)"},
    {"explain", "Explain why a plan was chosen, and over which alternatives", define_explain},
    {"debug-ops", "Show how each op was compiled, and why one was not fused", define_debug_ops},
    {"view", "Write an HTML page about a compile: graph, plan, e-graph and trace, linked",
     define_view},
    {"graph", "Print, verify or draw a graph in its text form", define_graph, R"(Examples:
  luminal graph verify graph.lum
  luminal graph draw graph.lum -o graph.svg
)"},
    {"tune", "Search the fastest plan by measuring, and keep it; show or share tuning records",
     define_tune},
    {"bench", "Measure primitives and patterns, or compare them with an earlier build",
     define_bench, R"(Examples:
  luminal bench micro --quick
  luminal bench patterns --filter softmax,matmul
)"},
    {"rules", "List the rules, or test your own", define_rules, R"(Examples:
  luminal rules list
  luminal rules test my.egg
)"},
    {"egg", "Run an e-graph program and inspect it", define_egg, R"(Examples:
  luminal egg program.egg --stats
  luminal egg program.egg --dot egraph.dot
)"},
    {"completion", "Print a completion script for a shell", define_completion,
     R"(Examples:
  source <(luminal completion bash)                               for this shell
  luminal completion bash > ~/.local/share/bash-completion/completions/luminal
  luminal completion zsh > ~/.zfunc/_luminal                      a folder of $fpath
  luminal completion fish > ~/.config/fish/completions/luminal.fish
)"},
    {"man", "Print a command's man page, or write all of them", define_man, R"(Examples:
  luminal man run | man -l -
  luminal man --folder ~/.local/share/man/man1
)"},
};

// Users who run a model rarely change how it is compiled.
std::vector<std::string> rare_groups(const Command& command) {
  if (!command.runs_models) return {};
  return {CompileArguments::kGroup, SearchArguments::kGroup};
}

int report(const std::string& message, int code) {
  std::cout.flush();
  // Messages may quote long texts from files.
  constexpr size_t kMostOfALine = 2000;
  std::cerr << "luminal: " << base::printable(message, kMostOfALine, true) << "\n";
  return code;
}

int report_internal(std::string message) {
  if (message.find("please report") == std::string::npos) message += "; please report this";
  return report(message, kInternal);
}

int run(int argc, char** argv) {
  CLI::App app("Luminal in C++: a search-based deep-learning compiler", "luminal");
  app.set_version_flag("--version", "luminal " LUMINAL_VERSION);
  app.set_help_flag("-h,--help", "Print this help");
  app.set_help_all_flag("--help-all", "Print this help with every option");
  app.require_subcommand(1);
  app.failure_message(usage_message);
  app.formatter(help_formatter({}));
  for (const Command& command : kCommands) {
    CLI::App& defined = *app.add_subcommand(command.name, command.summary);
    defined.formatter(help_formatter(rare_groups(command)));
    command.define(defined);
    if (command.examples != nullptr) defined.footer(command.examples);
  }
  app.footer(kExamples);  // after the commands, which would inherit it
  try {
    app.parse(argc, argv);
    std::cout.flush();
    if (!std::cout) return report("can't write to standard output", kFailed);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;  // --help and --version also end here, with 0
  }
}

}  // namespace

int run_program(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const UserError& error) {
    return report(error.what(), kFailed);
  } catch (const DeviceError& error) {
    return report(error.what(), kFailed);
  } catch (const std::bad_alloc&) {
    return report("out of memory", kFailed);
  } catch (const std::exception& error) {
    return report_internal(error.what());
  }
}

}  // namespace luminal::cli
