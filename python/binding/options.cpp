#include "binding/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "luminal/base/errors.h"
#include "luminal/base/text/near_names.h"

namespace luminal::python {
namespace {

using Set = std::function<void(CompileOptions&, nb::handle)>;
struct Option {
  std::string_view name;
  std::string_view takes;
  Set set;
};

template <typename T>
T as(nb::handle value) {
  T result{};
  if (!nb::try_cast(value, result)) throw nb::cast_error();
  return result;
}

// One of several words, as their number.
template <typename Enum>
Enum word(nb::handle value, std::initializer_list<std::string_view> words) {
  const auto given = as<std::string>(value);
  const auto* found = std::ranges::find(words, given);
  if (found == words.end()) throw nb::cast_error();
  return static_cast<Enum>(found - words.begin());
}

FusionPolicy fusion_policy(nb::handle value) {
  return word<FusionPolicy>(value, {"modelled", "always", "never", "measured", "fixed"});
}

Bindings bindings_of(nb::handle value) {
  Bindings bindings;
  for (const auto& [name, size] : as<std::map<std::string, int64_t>>(value)) {
    bindings.set(name, size);
  }
  return bindings;
}

const std::vector<Option>& known_options() {
  static const std::vector<Option> options = {
      {"backend", "\"cpu\" or \"interp\"",
       [](auto& o, nb::handle v) { o.backend.name = as<std::string>(v); }},
      {"target", "\"avx512\", \"avx2\" or \"sse2\"",
       [](auto& o, nb::handle v) { o.backend.target = as<std::string>(v); }},
      {"threads", "an int", [](auto& o, nb::handle v) { o.backend.threads = as<int>(v); }},
      {"library", "\"never\", \"measured\" or \"always\"",
       [](auto& o, nb::handle v) {
         o.backend.library = word<LibraryPolicy>(v, {"never", "measured", "always"});
       }},
      {"memory_limit", "bytes as an int",
       [](auto& o, nb::handle v) { o.backend.memory_limit = as<uint64_t>(v); }},
      {"float64", "a bool", [](auto& o, nb::handle v) { o.backend.float64 = as<bool>(v); }},
      {"fusion", "\"modelled\", \"always\", \"never\" or \"measured\"",
       [](auto& o, nb::handle v) { o.plan.fusion = fusion_policy(v); }},
      {"fusion_groups", "a dict from patterns to policies of fusion",
       [](auto& o, nb::handle v) {
         for (auto [pattern, policy] : as<nb::dict>(v)) {
           o.plan.fusion_groups[as<std::string>(pattern)] = fusion_policy(policy);
         }
       }},
      {"numerics", "\"exact\", \"reassociating\", \"finite\" or \"approximate\"",
       [](auto& o, nb::handle v) {
         o.plan.numerics = word<Numerics>(v, {"exact", "reassociating", "finite", "approximate"});
       }},
      {"rules", "a dict from names to rules as text",
       [](auto& o, nb::handle v) {
         for (const auto& [name, text] : as<std::map<std::string, std::string>>(v)) {
           o.plan.rules.push_back({.name = name, .text = text});
         }
       }},
      {"disable_rules", "a list of groups of rules",
       [](auto& o, nb::handle v) { o.plan.disable_rules = as<std::vector<std::string>>(v); }},
      {"rolling", "\"off\", \"auto\" or \"always\"",
       [](auto& o, nb::handle v) { o.plan.rolling = word<Rolling>(v, {"off", "auto", "always"}); }},
      {"typical_sizes", "a dict from variables to ints",
       [](auto& o, nb::handle v) { o.plan.typical_sizes = bindings_of(v); }},
      {"variants", "a dict from variables to lists of ints",
       [](auto& o, nb::handle v) {
         o.plan.variants = as<std::map<std::string, std::vector<int64_t>>>(v);
       }},
      {"search", "\"recorded\", \"modelled\", \"measured\" or \"replay\"",
       [](auto& o, nb::handle v) {
         o.search.mode = word<SearchMode>(v, {"recorded", "modelled", "measured", "replay"});
       }},
      {"seconds", "a float", [](auto& o, nb::handle v) { o.search.seconds = as<double>(v); }},
      {"candidates", "an int", [](auto& o, nb::handle v) { o.search.candidates = as<int>(v); }},
      {"keep_busy_times", "a bool",
       [](auto& o, nb::handle v) { o.search.keep_busy_times = as<bool>(v); }},
      {"seed", "an int", [](auto& o, nb::handle v) { o.search.seed = as<uint64_t>(v); }},
      {"cache_folder", "a path or \"none\"",
       [](auto& o, nb::handle v) { o.storage.cache_folder = path_of(v); }},
      {"cache_bytes", "an int",
       [](auto& o, nb::handle v) { o.storage.cache_bytes = as<uint64_t>(v); }},
      {"records", "a path or \"none\"",
       [](auto& o, nb::handle v) { o.storage.records = path_of(v); }},
      {"fusion_profile", "a path",
       [](auto& o, nb::handle v) { o.storage.fusion_profile = path_of(v); }},
      {"machine", "a path", [](auto& o, nb::handle v) { o.storage.machine = path_of(v); }},
  };
  return options;
}

[[noreturn]] void no_such_option(const std::string& name) {
  std::vector<std::string> names;
  for (const Option& option : known_options()) names.emplace_back(option.name);
  const std::vector<std::string> near = base::near_names(name, names);
  throw nb::type_error(fmt::format("there is no option '{}'; {}", name,
                                   near.empty()
                                       ? fmt::format("there are: {}", fmt::join(names, ", "))
                                       : fmt::format("did you mean '{}'?", near.front()))
                           .c_str());
}

constexpr std::chrono::seconds kSilent(2);
constexpr std::chrono::milliseconds kBetweenLines(100);

}  // namespace

CompileOptions read_options(const nb::kwargs& options) {
  CompileOptions result;
  for (auto [key, value] : options) {
    const auto name = nb::cast<std::string>(key);
    const auto known = std::ranges::find(known_options(), name, &Option::name);
    if (known == known_options().end()) no_such_option(name);
    try {
      known->set(result, value);
    } catch (const nb::cast_error&) {
      throw UserError(
          fmt::format("option {}={}: it takes {}", name, nb::repr(value).c_str(), known->takes));
    }
  }
  return result;
}

Waiting::Waiting(CompileOptions& options) {
  options.search.stop = [this] { return interrupts_.pressed(); };
  options.progress = [this](const CompileProgress& now) {
    // The search asks `stop` by itself.
    if (now.stage == "search") {
      interrupts_.pressed();
    } else {
      interrupts_.check();
    }
    show(now);
  };
}

void Waiting::show(const CompileProgress& now) {
  const auto time = std::chrono::steady_clock::now();
  if (time - begin_ < kSilent || time < next_) return;
  next_ = time + kBetweenLines;
  shown_ = true;
  nb::gil_scoped_acquire held;
  try {
    nb::module_::import_("luminal.progress")
        .attr("show")(std::string(now.stage), now.done, now.total, now.text, now.seconds_left);
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_KeyboardInterrupt)) throw;
    error.discard_as_unraisable("luminal.progress.show");  // what is shown decides nothing
  }
}

Waiting::~Waiting() {
  if (!shown_) return;
  nb::gil_scoped_acquire held;
  try {
    nb::module_::import_("luminal.progress").attr("clear")();
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("luminal.progress.clear");
  }
}

}  // namespace luminal::python
