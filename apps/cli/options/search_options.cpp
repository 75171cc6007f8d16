#include "apps/cli/options/search_options.h"
#include "apps/cli/options/numbers.h"

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <fstream>
#include <memory>

#include "luminal/base/errors.h"

namespace luminal::cli {
namespace {

std::atomic<bool> interrupted = false;

void on_interrupt(int) {
  interrupted = true;
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

void SearchArguments::add_to(CLI::App& app) {
  app.add_option("--search", mode,
                 "How to choose plans: as the tuning records say, else by the cost model; by the "
                 "cost model alone; by measuring on this machine; or by replaying the records of a "
                 "measured search")
      ->check(CLI::IsMember({"recorded", "modelled", "measured", "replay"}))
      ->capture_default_str()
      ->group(kGroup);
  add_measured_to(app);
}

void SearchArguments::add_measured_to(CLI::App& app) {
  app.add_option("--budget", search.seconds, "Time limit of a measured search, in seconds")
      ->check(not_negative())
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--candidates", search.candidates, "Maximum number of plans to try per variant")
      ->check(positive())
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--finalists", search.finalists,
                 "Plans to run as a whole, in turns with the best one so far")
      ->check(not_negative())
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--search-warm-ups", search.warm_ups, "Warm-up runs before timed runs")
      ->check(not_negative())
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--trials", search.trials, "Timed runs per kernel, of which the median counts")
      ->check(positive())
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--records", records, "File of tuning records, or 'none' (default: the user's)")
      ->type_name("FILE")
      ->group(kGroup);
  app.add_flag("--keep-busy-times", search.keep_busy_times,
               "Also record times measured while other programs run")
      ->group(kGroup);
  app.add_option("--search-events", events_file,
                 "Write a line of JSON to FILE for each step of the search")
      ->type_name("FILE")
      ->group(kGroup);
}

void SearchArguments::apply(CompileOptions& options) const {
  options.search = search;
  options.storage.records = records;
  options.search.mode = mode == "measured"   ? SearchMode::Measured
                        : mode == "replay"   ? SearchMode::Replay
                        : mode == "modelled" ? SearchMode::Modelled
                                             : SearchMode::Recorded;
  if (options.search.mode != SearchMode::Measured) return;
  std::signal(SIGINT, on_interrupt);
  options.search.stop = [] { return interrupted.load(); };
  if (events_file.empty()) return;
  auto file = std::make_shared<std::ofstream>(events_file);
  if (!*file) throw UserError("can't write search events to '" + events_file + "'");
  options.search.events = [file](const std::string& json) { *file << json << std::endl; };
}

}  // namespace luminal::cli
