// Settings: what a model's file says about it, as values that are looked up by key and kind.
//
// Config (JSON) and Gguf (its metadata) are settings. A file format of one's own can turn its
// header into a Config (Config::parse), or derive from this.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"

namespace luminal {

class LUMINAL_API Settings {
 public:
  virtual ~Settings();

  // The file, as messages name it.
  virtual const std::string& name() const = 0;

  // A value by its key: none when it is absent, UserError when it is of another kind.
  virtual std::optional<int64_t> find_int(std::string_view key) const = 0;
  virtual std::optional<double> find_real(std::string_view key) const = 0;  // of an integer too
  virtual std::optional<bool> find_bool(std::string_view key) const = 0;
  virtual std::optional<std::string> find_text(std::string_view key) const = 0;
  // Lists; a value alone is a list of one.
  virtual std::optional<std::vector<int64_t>> find_ints(std::string_view key) const = 0;
  virtual std::optional<std::vector<double>> find_reals(std::string_view key) const = 0;
  virtual std::optional<std::vector<std::string>> find_texts(std::string_view key) const = 0;
  // Settings inside of these; null when they are absent, as they are in formats without nesting.
  virtual std::shared_ptr<const Settings> find_section(std::string_view key) const;

  // A value that must be there: UserError that names the key when it isn't.
  int64_t int_at(std::string_view key) const;
  double real_at(std::string_view key) const;
  std::string text_at(std::string_view key) const;

 protected:
  Settings() = default;
  Settings(const Settings&) = default;
  Settings& operator=(const Settings&) = default;

 private:
  // The message about a key that must be there.
  virtual std::string lacks(std::string_view key) const;
};

}  // namespace luminal
