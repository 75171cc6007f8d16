// Config: the settings that a model comes with (config.json, generation_config.json), read by key
// and kind.
//
// A text is checked when it is parsed: size, nesting, keys that occur twice. What isn't asked for
// is ignored, whatever it is. Errors are UserErrors that name the file and the key.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/io/settings.h"

namespace luminal {

// A JSON object. A cheap handle: copies, and the objects inside of it, share the values.
class LUMINAL_API Config : public Settings {
 public:
  static Config open(const std::string& path);
  // `name` stands for the file in messages.
  static Config parse(std::string_view text, std::string name);
  // A file that holds a list of objects, as modules.json does.
  static std::vector<Config> open_list(const std::string& path);
  static std::vector<Config> parse_list(std::string_view text, std::string name);

  // A value by its key: none when it is absent or null, UserError when it is of another kind.
  std::optional<int64_t> find_int(std::string_view key) const override;  // 64.0 is one too
  std::optional<double> find_real(std::string_view key) const override;
  std::optional<bool> find_bool(std::string_view key) const override;
  std::optional<std::string> find_text(std::string_view key) const override;
  std::optional<Config> find_object(std::string_view key) const;
  std::optional<std::vector<int64_t>> find_ints(std::string_view key) const override;
  std::optional<std::vector<double>> find_reals(std::string_view key) const override;
  std::optional<std::vector<std::string>> find_texts(std::string_view key) const override;
  std::shared_ptr<const Settings> find_section(std::string_view key) const override;

  // Sorted.
  std::vector<std::string> keys() const;
  // A value, or the whole, as JSON on one line.
  std::string json(std::string_view key) const;
  std::string json() const;
  // The file, as messages name it.
  const std::string& name() const override;

 private:
  struct Contents;
  explicit Config(std::shared_ptr<const Contents> contents);
  std::string lacks(std::string_view key) const override;

  std::shared_ptr<const Contents> contents_;
};

}  // namespace luminal
