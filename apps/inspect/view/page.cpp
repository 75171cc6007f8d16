#include "apps/inspect/view/page.h"

#include "luminal/base/check.h"

namespace luminal::view {
namespace {

// JSON has '<' inside of strings alone, where this says the same: no text of a graph can look like
// the end of a script to a browser.
std::string without_tags(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

void put(std::string& page, std::string_view mark, std::string_view text) {
  const size_t at = page.find(mark);
  LUMINAL_CHECK(at != std::string::npos, "the page has no place for " + std::string(mark));
  page.replace(at, mark.size(), text);
}

}  // namespace

std::string make_page(std::string_view data) {
  std::string page, style, scripts;
  for (const PagePart& part : page_parts()) {
    std::string& to = part.name.ends_with(".html")  ? page
                      : part.name.ends_with(".css") ? style
                                                    : scripts;
    to += part.text;
  }
  // The data last: what it says is looked at by nobody.
  put(page, "/*style*/", style);
  put(page, "/*scripts*/", scripts);
  put(page, "/*data*/", without_tags(data));
  return page;
}

}  // namespace luminal::view
