// The page of `luminal view`: one HTML file that needs nothing but itself.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace luminal::view {

// A file of view/page, as it was when this was built.
struct PagePart {
  std::string_view name;
  std::string_view text;
};
std::span<const PagePart> page_parts();  // the frame first, then its style, then scripts in order

// The page over its data, which must be JSON. Nothing in the data can end the element it stands in,
// and the page fetches nothing.
std::string make_page(std::string_view data);

}  // namespace luminal::view
