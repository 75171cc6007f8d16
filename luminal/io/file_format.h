// FileFormat: how files of one format are told from others and opened. FileFormats: the formats
// that a path is tried with.
//
//   FileFormats formats = known_formats();
//   formats.add({.name = "mine", .recognises = is_mine, .open_weights = open_mine});
//   load_weights(graph, open_weights("weights.mine", formats));
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/io/model_description.h"
#include "luminal/io/weight_source.h"
#include "luminal/text/tokenizer.h"

namespace luminal {

// The files of a model, opened.
struct ModelFiles {
  ModelDescription description;
  std::shared_ptr<const WeightSource> weights = nullptr;
  // Reads the tokenizer. Called after a family was found: a large vocabulary takes a while.
  std::function<Tokenizer()> open_tokenizer = nullptr;
};

// Functions take the path of a file or a folder, and throw UserErrors that name the fault.
struct FileFormat {
  std::string name;  // "gguf"
  // By how the path ends, what the file begins with, or what the folder holds. Cheap: it is called
  // for every path until a format takes it.
  std::function<bool(const std::string& path)> recognises;
  std::function<std::shared_ptr<const WeightSource>(const std::string& path)> open_weights;
  // Null: files of this format hold weights alone.
  std::function<ModelFiles(const std::string& path)> open_model = nullptr;
};

class LUMINAL_API FileFormats {
 public:
  // The format that was added last is asked first. UserError for one without `recognises` or
  // `open_weights`.
  FileFormats& add(FileFormat format);

  // The format of a path; null where none recognises it.
  const FileFormat* find(const std::string& path) const;
  // The same among the formats that hold whole models.
  const FileFormat* find_model(const std::string& path) const;
  // In the order they were added.
  const std::vector<FileFormat>& all() const { return formats_; }

 private:
  std::vector<FileFormat> formats_;
};

inline constexpr std::string_view kSafetensorsFormat = "safetensors";  // a file, or an index
inline constexpr std::string_view kGgufFormat = "gguf";
inline constexpr std::string_view kHuggingFaceFormat = "huggingface";  // a folder

// Those that the library reads: the three above.
LUMINAL_API FileFormats known_formats();

// FileFormat::open_model, checked: UserError that names the format where it leaves out the
// settings, the weights or the tokenizer.
LUMINAL_API ModelFiles open_model(const FileFormat& format, const std::string& path);

// The tensors of a file or folder. UserError for one that no format recognises.
LUMINAL_API std::shared_ptr<const WeightSource> open_weights(
    const std::string& path, const FileFormats& formats = known_formats());

}  // namespace luminal
