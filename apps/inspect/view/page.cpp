#include "apps/inspect/view/page.h"

#include "luminal/base/check.h"

namespace luminal::view {
namespace {

// JSON contains '<' only inside strings, where an escape means the same: no text of a graph can end
// the script element.
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
  // The data comes last, so that its contents aren't searched for marks.
  put(page, "/*style*/", style);
  put(page, "/*scripts*/", scripts);
  put(page, "/*data*/", without_tags(data));
  return page;
}

}  // namespace luminal::view
