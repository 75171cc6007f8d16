// libFuzzer target of tokenizer.json: any text gives a tokenizer or a UserError, and a tokenizer
// works.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "luminal/base/errors.h"
#include "luminal/text/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace luminal;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const Tokenizer tokenizer = Tokenizer::from_json(text, "", "fuzz");
    for (std::string_view sample :
         {std::string_view("Hello, w\xC3\xB6rld! 12 <s>"), std::string_view(text).substr(0, 200)}) {
      tokenizer.decode(tokenizer.encode(sample));
      if (tokenizer.encode(sample, {.longest = 5}).size() > 5) std::abort();
    }
  } catch (const UserError&) {
  }
  return 0;
}
