#include "apps/bench/harness/page.h"

#include "luminal/base/check.h"

namespace luminal::bench {
namespace {

// No text inside a script element may look like its end.
std::string escaped(std::string json) {
  for (size_t at = 0; (at = json.find("</", at)) != std::string::npos; at += 3) {
    json.replace(at, 2, "<\\/");
  }
  return json;
}

}  // namespace

std::string make_page(const std::map<std::string, LevelDocuments>& levels) {
  std::string data = "{";
  for (const auto& [level, documents] : levels) {
    const auto& [report, history, compare] = documents;
    if (report.empty() && compare.empty()) continue;
    if (data.size() > 1) data += ",";
    data += "\n\"" + level + "\": {";
    bool first = true;
    for (const auto& [key, text] : {std::pair<const char*, const std::string&>("report", report),
                                    {"history", history},
                                    {"compare", compare}}) {
      if (text.empty()) continue;
      data += std::string(first ? "" : ",") + "\"" + key + "\": " + text;
      first = false;
    }
    data += "}";
  }
  data += "}";
  std::string page(page_template());
  constexpr std::string_view kPlace = "@DATA@";
  const size_t at = page.find(kPlace);
  LUMINAL_CHECK(at != std::string::npos, "the page has no place for its data");
  page.replace(at, kPlace.size(), escaped(std::move(data)));
  return page;
}

}  // namespace luminal::bench
