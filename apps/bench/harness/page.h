// The report as one page that needs nothing else: figures inside, plots drawn by its own script.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace luminal::bench {

// JSON texts of one level; empty where there is none.
struct LevelDocuments {
  std::string report, history, compare;
};

// By name of the level: "micro", "patterns".
std::string make_page(const std::map<std::string, LevelDocuments>& levels);

// The page with @DATA@ in it; page.html as it was when this was built.
std::string_view page_template();

}  // namespace luminal::bench
