// A file format from outside: weights, settings and vocabulary as lines of text.
//
//   TOY
//   {"architecture": "bigram", "features": 2}
//   tokens a b <end>
//   tensor table 3 2 : 1 0 0 1 1 1
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/luminal.h"

namespace luminal::toy {

inline constexpr std::string_view kNaming = "toy";

// The whole file, read at once: f32 tensors, the settings as a Config, the tokens.
class ToyFile : public WeightSource {
 public:
  // UserError that names the file and the line.
  static std::shared_ptr<const ToyFile> open(const std::string& path);

  const std::string& name() const override { return path_; }
  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  TensorData data(std::string_view name) const override;

  const Config& settings() const { return settings_; }
  const std::vector<std::string>& tokens() const { return tokens_; }

 private:
  explicit ToyFile(std::string path) : path_(std::move(path)) {}
  void read_line(const std::string& line);
  void read_tensor(std::istream& words);
  [[noreturn]] void fail(const std::string& message) const;

  std::string path_;
  Config settings_ = Config::parse("{}", "toy");
  std::vector<std::string> tokens_;
  std::vector<TensorInfo> tensors_;  // sorted by name
  std::map<std::string, TensorData, std::less<>> data_;
};

// What is added to FileFormats. A file is one of these if it begins with "TOY".
FileFormat toy_format();

// A file with this text, removed at the end.
class TemporaryToy {
 public:
  explicit TemporaryToy(const std::string& text);
  ~TemporaryToy();
  TemporaryToy(const TemporaryToy&) = delete;
  TemporaryToy& operator=(const TemporaryToy&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace luminal::toy
