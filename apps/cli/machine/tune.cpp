// luminal tune: searches plans, and looks after the tuning records.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/machine/tune_calibrate.h"
#include "apps/cli/machine/tune_fusion.h"
#include "apps/cli/machine/tune_search.h"
#include "apps/cli/options/command.h"
#include "apps/cli/options/numbers.h"
#include "luminal/base/errors.h"
#include "luminal/base/source_fingerprint.h"
#include "luminal/base/text/json_text.h"
#include "luminal/records/device.h"
#include "luminal/records/store.h"

namespace luminal::cli {
namespace {

using base::JsonText;
using records::MergeResult;
using records::Mode;
using records::Refusal;
using records::Store;
using records::Tally;

struct TuneArguments {
  std::string records;
  std::string file = "-";
  std::vector<std::string> files;
  bool json = false;
  double unused_days = 0;
  bool has_unused_days = false;
  bool other_devices = false;
  bool other_compilers = false;
  uint64_t to_size = 0;
  bool has_to_size = false;
  bool dry_run = false;
};

std::filesystem::path records_file(const TuneArguments& options) {
  return options.records.empty() ? Store::default_file() : std::filesystem::path(options.records);
}

std::string megabytes(uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

// "120 kernels, 4 plans, 12 comparisons"
std::string counts_text(int64_t kernels, int64_t plans, int64_t comparisons) {
  return fmt::format("{} kernels, {} plans, {} comparisons", kernels, plans, comparisons);
}

void write_refusals(JsonText& json, const std::vector<Refusal>& refusals) {
  json.key("refusals");
  json.begin_array();
  for (const Refusal& refusal : refusals) {
    json.begin_object(JsonText::Layout::OnOneLine);
    json.field("what", refusal.what);
    json.field("why", refusal.why);
    json.end_object();
  }
  json.end_array();
}

// Prints rejected records to standard error; the others are still used.
void print_refusals(const std::string& source, int64_t count,
                    const std::vector<Refusal>& refusals) {
  if (count == 0) return;
  std::cerr << fmt::format("luminal: {}: {} refused:\n", source, count);
  for (const Refusal& refusal : refusals) {
    std::cerr << fmt::format("  {}: {}\n", refusal.what, refusal.why);
  }
  const int64_t more = count - static_cast<int64_t>(refusals.size());
  if (more > 0) std::cerr << fmt::format("  and {} more\n", more);
}

void write_shares(JsonText& json, const char* name,
                  const std::vector<records::Stats::Share>& shares) {
  json.key(name);
  json.begin_array();
  for (const auto& share : shares) {
    json.begin_object(JsonText::Layout::OnOneLine);
    json.field("name", share.name);
    if (!share.description.empty()) json.field("description", share.description);
    json.field("kernels", share.kernels);
    json.field("plans", share.plans);
    json.field("comparisons", share.comparisons);
    json.end_object();
  }
  json.end_array();
}

void print_json(const Store& store, const records::Stats& stats) {
  JsonText json;
  json.begin_object();
  json.field("file", store.file().string());
  json.field("version", stats.version);
  json.field("bytes", stats.bytes);
  json.field("kernels", stats.kernels);
  json.field("plans", stats.plans);
  json.field("comparisons", stats.comparisons);
  write_shares(json, "devices", stats.devices);
  write_shares(json, "compilers", stats.compilers);
  json.field("damaged", stats.damaged);
  write_refusals(json, stats.damage);
  json.end_object();
  std::cout << json.text() << "\n";
}

void stats(const TuneArguments& options) {
  const Store store = Store::open(records_file(options), Mode::ReadOnly);
  const records::Stats found = store.stats();
  if (options.json) return print_json(store, found);
  std::cout << fmt::format("{}: {}, {}\n", store.file().string(),
                           counts_text(found.kernels, found.plans, found.comparisons),
                           megabytes(found.bytes));
  const auto print = [](const char* what, const std::vector<records::Stats::Share>& shares) {
    for (const auto& share : shares) {
      const std::string name = share.description.empty()
                                   ? base::json_quoted(share.name.substr(0, 64))
                                   : share.description;
      std::cout << fmt::format("{} {}: {}\n", what, name,
                               counts_text(share.kernels, share.plans, share.comparisons));
    }
  };
  print("device", found.devices);
  print("compiler", found.compilers);
  if (found.damaged == 0) return;
  std::cout << fmt::format("{} damaged, not used; 'luminal tune prune' removes them:\n",
                           found.damaged);
  for (const Refusal& of : found.damage) std::cout << fmt::format("  {}: {}\n", of.what, of.why);
}

void export_records(const TuneArguments& options) {
  const Store store = Store::open(records_file(options), Mode::ReadOnly);
  std::vector<Refusal> refusals;
  if (options.file == "-") {
    refusals = store.export_lines(std::cout);
  } else {
    std::ofstream out(options.file, std::ios::binary);
    if (out) refusals = store.export_lines(out);
    out.close();
    if (!out) {
      throw UserError(
          fmt::format("can't write '{}'; check the folder, its permissions and the "
                      "disk's free space",
                      options.file));
    }
  }
  print_refusals(store.file().string(), std::ssize(refusals), refusals);
}

void write(JsonText& json, const char* name, const Tally& tally) {
  json.key(name);
  json.begin_object(JsonText::Layout::OnOneLine);
  json.field("added", tally.added);
  json.field("replaced", tally.replaced);
  json.field("kept", tally.kept);
  json.end_object();
}

void print(const TuneArguments& options, const std::string& source, const MergeResult& result) {
  if (options.json) {
    JsonText json;
    json.begin_object();
    json.field("source", source);
    write(json, "kernels", result.kernels);
    write(json, "plans", result.plans);
    write(json, "comparisons", result.comparisons);
    write(json, "devices", result.devices);
    json.field("refused", result.refused);
    write_refusals(json, result.refusals);
    json.end_object();
    std::cout << json.text() << "\n";
    return;
  }
  const auto text = [](const char* what, const Tally& tally) {
    return fmt::format("{} {} new, {} better, {} known", what, tally.added, tally.replaced,
                       tally.kept);
  };
  std::cout << fmt::format("{}: {}; {}; {}\n", source, text("kernels", result.kernels),
                           text("plans", result.plans), text("comparisons", result.comparisons));
  print_refusals(source, result.refused, result.refusals);
}

void import_records(const TuneArguments& options) {
  std::ifstream in;
  if (options.file != "-") {
    in.open(options.file, std::ios::binary);
    if (!in || std::filesystem::is_directory(options.file)) {
      throw UserError(
          fmt::format("can't read '{}'; check the name and its permissions", options.file));
    }
  }
  Store store = Store::open(records_file(options));
  const std::string source = options.file == "-" ? "<stdin>" : options.file;
  print(options, source, store.import_lines(options.file == "-" ? std::cin : in, source));
}

void merge(const TuneArguments& options) {
  Store store = Store::open(records_file(options));
  for (const std::string& file : options.files) print(options, file, store.merge_from(file));
}

records::PruneOptions prune_options(const TuneArguments& options) {
  records::PruneOptions prune;
  prune.dry_run = options.dry_run;
  if (options.has_unused_days) {
    prune.unused_seconds = static_cast<int64_t>(options.unused_days * 24 * 60 * 60);
  }
  if (options.has_to_size) prune.most_bytes = options.to_size;
  if (options.other_devices) prune.keep_device = records::is_this_processor;
  if (options.other_compilers) {
    prune.keep_compiler = [](const std::string& compiler) {
      return compiler.find(base::source_fingerprint()) != compiler.npos ||
             compiler.find(base::code_fingerprint()) != compiler.npos;
    };
  }
  return prune;
}

void prune(const TuneArguments& options) {
  Store store = Store::open(records_file(options));
  const records::PruneResult result = store.prune(prune_options(options));
  if (options.json) {
    JsonText json;
    json.begin_object();
    json.field("file", store.file().string());
    json.field("dry_run", options.dry_run);
    json.field("kernels", result.kernels);
    json.field("plans", result.plans);
    json.field("comparisons", result.comparisons);
    json.field("damaged", result.damaged);
    json.field("bytes_before", result.bytes_before);
    json.field("bytes_after", result.bytes_after);
    json.end_object();
    std::cout << json.text() << "\n";
    return;
  }
  std::cout << fmt::format("{}: {} {}, {} damaged; {} of {} {}\n", store.file().string(),
                           options.dry_run ? "would remove" : "removed",
                           counts_text(result.kernels, result.plans, result.comparisons),
                           result.damaged, megabytes(result.bytes_after),
                           megabytes(result.bytes_before),
                           options.dry_run ? "would be left" : "are left");
}

}  // namespace

void define_tune(CLI::App& app) {
  app.require_subcommand(0, 1);
  app.footer(
      "Examples:\n"
      "  luminal tune model.gguf --budget 60         # `luminal run` uses what it finds\n"
      "  luminal tune graph.lum --threads 1          # for compiles with --threads 1\n"
      "  luminal tune calibrate\n"
      "  luminal tune stats\n"
      "  luminal tune export records.jsonl           # on one machine\n"
      "  luminal tune import records.jsonl           # on another\n"
      "  luminal tune merge other/records.sqlite --records shared.sqlite\n"
      "  luminal tune prune --unused-for 90 --other-compilers --dry-run\n"
      "  luminal tune fusion --output profile.json --model model.gguf\n"
      "Ctrl-C ends a search and keeps what was found; the exit status is 0 then.");
  auto options = std::make_shared<TuneArguments>();
  auto add = [&](const char* name, const char* summary, void (*run)(const TuneArguments&)) {
    CLI::App* command = app.add_subcommand(name, summary);
    command->add_option("--records", options->records,
                        "File of tuning records (default: the user's)");
    command->callback([options, run] { run(*options); });
    return command;
  };
  auto with_json = [&](CLI::App* command) {
    command->add_flag("--json", options->json, "Print the result as JSON");
    return command;
  };
  with_json(add("stats", "Show what is recorded, by device and compiler", stats));
  add("export", "Write all records as lines of JSON", export_records)
      ->add_option("file", options->file, "Output file; - for standard output")
      ->capture_default_str();
  with_json(add("import", "Import exported records, checking each line", import_records))
      ->add_option("file", options->file, "Exported file; - for standard input")
      ->required();
  with_json(add("merge", "Merge the records of other files, checking each row", merge))
      ->add_option("files", options->files, "Files of tuning records, which stay unchanged")
      ->required();
  CLI::App* pruning =
      with_json(add("prune", "Remove records; damaged ones are always removed", prune));
  pruning
      ->add_option_function<double>(
          "--unused-for",
          [options](double days) {
            options->unused_days = days;
            options->has_unused_days = true;
          },
          "Remove records that were unused for this many days")
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("DAYS");
  pruning->add_flag("--other-devices", options->other_devices,
                    "Remove records of other kinds of processors");
  pruning->add_flag("--other-compilers", options->other_compilers,
                    "Remove records of other versions of the compiler");
  pruning
      ->add_option_function<uint64_t>(
          "--to-size",
          [options](uint64_t bytes) {
            options->to_size = bytes;
            options->has_to_size = true;
          },
          "Remove the least recently used records until the file has at most this size, in bytes "
          "or as 64MB")
      ->transform(CLI::AsSizeValue(false))
      ->transform(whole_bytes())
      ->type_name("BYTES");
  pruning->add_flag("--dry-run", options->dry_run, "Only print what would be removed");
  define_tune_calibrate(*app.add_subcommand("calibrate", "Fit the cost model to this machine"));
  define_tune_fusion(*app.add_subcommand(
      "fusion", "Measure whether fusing patterns of models pays, for policy measured"));
  define_tune_search(app);
}

}  // namespace luminal::cli
