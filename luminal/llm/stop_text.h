// StopText: ends a stream of text where one of several strings appears in it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"

namespace luminal::llm {

// Pieces may divide a stop string anywhere: text that may be its beginning is held back.
class LUMINAL_API StopText {
 public:
  // Empty ones are ignored.
  explicit StopText(std::vector<std::string> stops);

  // What can be shown after one more piece; nothing any more once a string was found.
  std::string add(std::string_view piece);
  // What is held back at the end of the stream.
  std::string finish();
  // The string that was found; empty before.
  const std::string& found() const { return found_; }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  std::string found_;
};

}  // namespace luminal::llm
