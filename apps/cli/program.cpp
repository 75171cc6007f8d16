#include "apps/cli/program.h"

#include "apps/cli/command.h"
#include "luminal/base/errors.h"
#include "luminal/base/printable.h"
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
constexpr int kInternal = 3;  // a bug of ours

constexpr Command kCommands[] = {
    {"bench", "Measure primitives and patterns, or compare them with an earlier build",
     define_bench},
    {"cache", "Show or clear the compiled kernels on disk", define_cache},
    {"chat", "Talk with a language model", define_chat},
    {"compile", "Compile a graph and say what became of it", define_compile},
    {"debug-ops", "Say what became of a graph's ops, and what is in the way", define_debug_ops},
    {"doctor", "Say what this machine offers and whether all is well", define_doctor},
    {"egg", "Run an e-graph program and look inside", define_egg},
    {"embed", "Turn texts into vectors, or say how alike they are", define_embed},
    {"explain", "Say why a plan is as it is, and what it was chosen over", define_explain},
    {"graph", "Print, verify or draw a graph in its text form", define_graph},
    {"inspect", "List the metadata and tensors of a model's file or folder", define_inspect},
    {"rules", "List the rules, or test your own", define_rules},
    {"run", "Let a language model answer; or run a graph, trace it and check every kernel",
     define_run},
    {"tokenize", "Text to a model's token ids, or back", define_tokenize},
    {"tune", "Show, share or prune tuning records", define_tune},
    {"view", "One page of a compile: graph, plan, e-graph and trace, linked", define_view},
};

std::string usage_message(const CLI::App* app, const CLI::Error& error) {
  std::string message = error.what();
  // CLI11 notices a missing subcommand before it notices a misspelt one.
  const auto unknown = app->remaining(true);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !unknown.empty()) {
    message = "there is no command '" + unknown.front() + "'";
  }
  return "luminal: " + message + "\nluminal --help lists what there is\n";
}

int report(const std::string& message, int code) {
  std::cout.flush();
  // Messages repeat what files say.
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
  app.require_subcommand(1);
  app.failure_message(usage_message);
  for (const Command& command : kCommands) {
    command.define(*app.add_subcommand(command.name, command.summary));
  }
  try {
    app.parse(argc, argv);
    std::cout.flush();
    if (!std::cout) return report("can't write to standard output", kFailed);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;  // --help and --version end here too, with 0
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
