// libFuzzer target of Config: any text gives settings or a UserError.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "luminal/base/errors.h"
#include "luminal/io/config.h"

namespace {

using luminal::Config;
using luminal::UserError;

void require(bool holds) {
  if (!holds) std::abort();
}

// Whether a key can be read as this kind; the error says which key it was.
template <typename Function>
bool reads(Function function) {
  try {
    return function().has_value();
  } catch (const UserError& error) {
    require(std::string_view(error.what()).starts_with("config: 'fuzz': "));
    return false;
  }
}

void read_all(const Config& config) {
  for (const std::string& key : config.keys()) {
    const bool is_int = reads([&] { return config.find_int(key); });
    const bool is_real = reads([&] { return config.find_real(key); });
    const bool is_text = reads([&] { return config.find_text(key); });
    const bool is_bool = reads([&] { return config.find_bool(key); });
    require(!is_int || is_real);
    require(is_real + is_text + is_bool <= 1);
    // A value alone is a list of one.
    require(!is_int || reads([&] { return config.find_ints(key); }));
    require(!is_real || reads([&] { return config.find_reals(key); }));
    require(!is_text || reads([&] { return config.find_texts(key); }));
    if (reads([&] { return config.find_object(key); })) read_all(*config.find_object(key));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const Config config = Config::parse(text, "fuzz");
    read_all(config);
    // What was accepted prints as something that is accepted and says the same.
    require(Config::parse(config.json(), "fuzz").json() == config.json());
  } catch (const UserError&) {
  }
  try {
    for (const Config& item : Config::parse_list(text, "fuzz")) read_all(item);
  } catch (const UserError&) {
  }
  return 0;
}
