// The report as one self-contained page: figures embedded, plots drawn by its own script.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace luminal::bench {

// JSON texts of one level; empty if there are none.
struct LevelDocuments {
  std::string report, history, compare;
};

// `levels` by name: "micro", "patterns".
std::string make_page(const std::map<std::string, LevelDocuments>& levels);

// page.html as embedded at build time, with the placeholder @DATA@.
std::string_view page_template();

}  // namespace luminal::bench
