// luminal_forged: forges plans in records, records, cache entries and bundles, and compiles with
// them. Each must be refused or leave the results right. The last line is a summary in JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "luminal/base/digest.h"
#include "luminal/base/files/file_cache.h"
#include "luminal/base/os/paths.h"
#include "luminal/driver/bundle.h"
#include "luminal/graph/text_form.h"
#include "luminal/records/store.h"
#include "tests/forged/forged_subject.h"
#include "tests/support/forge.h"

namespace luminal::tests {
namespace {

namespace fs = std::filesystem;
using Results = std::vector<std::vector<double>>;

std::string read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_all(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

CompileOptions measured(const fs::path& records) {
  CompileOptions options;
  options.storage.cache_folder = "none";
  options.storage.records = records.string();
  options.search.mode = SearchMode::Measured;
  options.search.seconds = 0.05;
  options.search.candidates = 2;
  options.search.trials = 1;
  options.search.warm_ups = 0;
  options.search.keep_busy_times = true;
  return options;
}

// A subject with what honest compiles of it left behind.
struct Prepared {
  std::unique_ptr<ForgedSubject> subject;
  Results expected;
  fs::path folder;  // records.sqlite, cache/
  std::string bundle;
};

Prepared prepare(std::unique_ptr<ForgedSubject> subject, const fs::path& folder) {
  Prepared made{.subject = std::move(subject), .expected = {}, .folder = folder, .bundle = {}};
  fs::create_directories(folder);
  made.expected = made.subject->run({.backend = {.name = "interp"}});
  made.subject->run(measured(folder / "records.sqlite"));
  CompileOptions cached;
  cached.storage.cache_folder = (folder / "cache").string();
  made.subject->run(cached);
  made.bundle = make_bundle(made.subject->graph, {.storage = {.cache_folder = "none"}});
  return made;
}

// Each kind forges a copy of what was prepared, in `folder`, and says what is computed with it.
// UserError: it was refused.

Results forged_plan(const Prepared& from, const fs::path& folder, std::mt19937& random) {
  fs::copy(from.folder / "records.sqlite", folder / "records.sqlite");
  rewrite_plans(folder / "records.sqlite", [&](TunedPlan& plan) {
    plan.seconds = 1e9;
    plan.candidates = 1 << 30;
    if (random() % 4 == 0) plan.trail.proposals = static_cast<int>(random() >> 1);
    if (random() % 4 == 0) plan.trail.champion = mutated(plan.trail.champion, random);
    change_plan(plan.entry, [&](kernel::PlannedGraph& planned) { mutate(planned, random); });
  });
  return from.subject->run(measured(folder / "records.sqlite"));
}

Results forged_plan_bytes(const Prepared& from, const fs::path& folder, std::mt19937& random) {
  fs::copy(from.folder / "records.sqlite", folder / "records.sqlite");
  rewrite_plans(folder / "records.sqlite",
                [&](TunedPlan& plan) { plan.entry = mutated(plan.entry, random); });
  return from.subject->run(measured(folder / "records.sqlite"));
}

Results forged_database(const Prepared& from, const fs::path& folder, std::mt19937& random) {
  write_all(folder / "records.sqlite", mutated(read_all(from.folder / "records.sqlite"), random));
  return from.subject->run(measured(folder / "records.sqlite"));
}

Results forged_lines(const Prepared& from, const fs::path& folder, std::mt19937& random) {
  std::stringstream lines;
  records::Store::open(from.folder / "records.sqlite").export_lines(lines);
  std::stringstream changed(mutated(lines.str(), random));
  {
    records::Store store = records::Store::open(folder / "records.sqlite");
    try {
      store.import_lines(changed, "lines");
    } catch (const UserError&) {
      // Refused as a whole: compile with none of them.
    }
  }
  return from.subject->run(measured(folder / "records.sqlite"));
}

// Entries as another user's cache would have written them.
Results forged_cache(const Prepared& from, const fs::path& folder, std::mt19937& random) {
  const fs::path planted = folder / "cache";
  CompileOptions options;
  options.storage.cache_folder = planted.string();
  from.subject->run(options);  // the folder has its own secret, which planted entries don't know
  for (const auto& entry : fs::directory_iterator(planted)) {
    const std::string name = entry.path().filename().string();
    const fs::path honest = from.folder / "cache" / name;
    if (name == "secret" || !fs::exists(honest)) continue;
    const base::CacheKind* kind = nullptr;
    for (const base::CacheKind& known : base::kCacheKinds) {
      if (name.ends_with(known.ending)) kind = &known;
    }
    if (kind == nullptr || random() % 2 == 0) continue;
    // Written by a cache with another secret: sealed, but not by this folder's.
    const fs::path elsewhere = folder / "elsewhere";
    const std::string key = name.substr(0, name.size() - kind->ending.size());
    const std::optional<std::string> content =
        base::FileCache(from.folder / "cache", *kind).find(key);
    if (!content) continue;
    std::string forged = *content;
    if (kind->ending == base::kCachedPlans.ending && random() % 2 == 0) {
      change_plan(forged, [&](kernel::PlannedGraph& planned) { mutate(planned, random); });
    } else {
      forged = mutated(forged, random);
    }
    base::FileCache(elsewhere, *kind).store(key, forged);
    fs::copy(elsewhere / name, entry.path(), fs::copy_options::overwrite_existing);
  }
  return from.subject->run(options);
}

Results forged_bundle(const Prepared& from, const fs::path&, std::mt19937& random) {
  const size_t tail = seal_bundle("").size();
  std::string content = from.bundle.substr(0, from.bundle.size() - tail);
  const std::string seal = from.bundle.substr(content.size() + base::digest("").size());
  content = mutated(content, random);
  load_bundle(content + base::digest(content) + seal);
  throw InternalError("a forged bundle was loaded");
}

using Forge = Results (*)(const Prepared&, const fs::path&, std::mt19937&);
constexpr std::pair<const char*, Forge> kForgeries[] = {
    {"plan", forged_plan},    {"plan bytes", forged_plan_bytes}, {"database", forged_database},
    {"import", forged_lines}, {"cache", forged_cache},           {"bundle", forged_bundle}};

struct Count {
  int right = 0, refused = 0, wrong = 0;
};

int run(int count, uint32_t seed) {
  const base::TemporaryFolder folder;
  std::vector<Prepared> prepared;
  for (auto& subject : forged_subjects()) {
    prepared.push_back(
        prepare(std::move(subject), folder.path() / std::to_string(prepared.size())));
  }
  std::map<std::string, Count> counts;
  for (int n = 0; n < count; ++n) {
    std::mt19937 random(seed + static_cast<uint32_t>(n));
    const auto& [name, forge] = kForgeries[(seed + static_cast<size_t>(n)) % std::size(kForgeries)];
    const Prepared& from = prepared[random() % prepared.size()];
    const fs::path place = folder.path() / "forged";
    fs::remove_all(place);
    fs::create_directories(place);
    Count& of = counts[name];
    try {
      const bool right = agree(forge(from, place, random), from.expected);
      ++(right ? of.right : of.wrong);
      if (!right) fmt::print("wrong results: {}, --seed {} --count 1\n", name, seed + n);
    } catch (const UserError&) {
      ++of.refused;
    } catch (const std::exception& error) {
      ++of.wrong;
      fmt::print("{}, --seed {} --count 1: {}\n", name, seed + n, error.what());
    }
  }
  int wrong = 0;
  std::string text;
  for (const auto& [name, of] : counts) {
    wrong += of.wrong;
    text += fmt::format(R"({}"{}": {{"right": {}, "refused": {}, "wrong": {}}})",
                        text.empty() ? "" : ", ", name, of.right, of.refused, of.wrong);
  }
  fmt::print("{{\"forged\": {}, \"wrong\": {}, {}}}\n", count, wrong, text);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace luminal::tests

int main(int argc, char** argv) {
  CLI::App app("Forges what compiles leave behind, and compiles with it");
  int count = 100;
  uint32_t seed = 1;
  app.add_option("--count", count, "Forgeries to try")->capture_default_str();
  app.add_option("--seed", seed, "Seed of the first one")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return luminal::tests::run(count, seed);
}
