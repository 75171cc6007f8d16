// The page of `luminal view`: one self-contained HTML file.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace luminal::view {

// A file of view/page, embedded at build time.
struct PagePart {
  std::string_view name;
  std::string_view text;
};
std::span<const PagePart> page_parts();  // the frame first, then its style, then scripts in order

// The page with its data, which must be JSON. The data can't end the element that contains it, and
// the page fetches nothing.
std::string make_page(std::string_view data);

}  // namespace luminal::view
