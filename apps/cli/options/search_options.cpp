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
                 "How plans are chosen: by the machine's model, by measuring them here, or as a "
                 "measured search went before, by its records alone")
      ->check(CLI::IsMember({"modelled", "measured", "replay"}))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--budget", search.seconds, "Seconds that a measured search may take")
      ->check(not_negative())
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--candidates", search.candidates, "Plans that it may try, of each variant")
      ->check(positive())
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--finalists", search.finalists,
                 "Plans that run whole, in turns with the best one so far")
      ->check(not_negative())
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--search-warm-ups", search.warm_ups, "Runs before those that count")
      ->check(not_negative())
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--trials", search.trials, "Runs that a kernel's time is the median of")
      ->check(positive())
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--records", records,
                 "The file of tuning records; the user's if not said; 'none': nothing is "
                 "remembered")
      ->type_name("FILE")
      ->group(kGroup);
  app.add_flag("--keep-busy-times", search.keep_busy_times,
               "Times that are measured beside other programs enter the records, too")
      ->group(kGroup);
  app.add_option("--search-events", events_file,
                 "A file that gets a line of JSON for each thing that the search does")
      ->type_name("FILE")
      ->group(kGroup);
}

void SearchArguments::apply(CompileOptions& options) const {
  options.search = search;
  options.records = records;
  options.search.mode = mode == "measured" ? SearchMode::Measured
                        : mode == "replay" ? SearchMode::Replay
                                           : SearchMode::Modelled;
  if (options.search.mode != SearchMode::Measured) return;
  std::signal(SIGINT, on_interrupt);
  options.stop_search = [] { return interrupted.load(); };
  if (events_file.empty()) return;
  auto file = std::make_shared<std::ofstream>(events_file);
  if (!*file) throw UserError("can't write search events to '" + events_file + "'");
  options.search_events = [file](const std::string& json) { *file << json << std::endl; };
}

}  // namespace luminal::cli
