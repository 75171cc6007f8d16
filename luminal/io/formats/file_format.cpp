#include "luminal/io/file_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>
#include <utility>

#include "luminal/base/errors.h"

namespace luminal {

FileFormats& FileFormats::add(FileFormat format) {
  if (!format.recognises || !format.open_weights) {
    throw UserError(fmt::format("file format '{}': set recognises and open_weights", format.name));
  }
  formats_.push_back(std::move(format));
  return *this;
}

const FileFormat* FileFormats::find(const std::string& path) const {
  for (const FileFormat& format : formats_ | std::views::reverse) {
    if (format.recognises(path)) return &format;
  }
  return nullptr;
}

const FileFormat* FileFormats::find_model(const std::string& path) const {
  for (const FileFormat& format : formats_ | std::views::reverse) {
    if (format.open_model && format.recognises(path)) return &format;
  }
  return nullptr;
}

ModelFiles open_model(const FileFormat& format, const std::string& path) {
  ModelFiles files = format.open_model(path);
  if (files.description.settings && files.weights && files.open_tokenizer) return files;
  throw UserError(fmt::format(
      "file format '{}': its open_model must give settings, weights and a tokenizer", format.name));
}

std::shared_ptr<const WeightSource> open_weights(const std::string& path,
                                                 const FileFormats& formats) {
  if (const FileFormat* format = formats.find(path)) return format->open_weights(path);
  std::vector<std::string> names;
  for (const FileFormat& format : formats.all()) names.push_back(format.name);
  throw UserError(fmt::format("'{}' holds no weights in a supported format; supported: {}", path,
                              fmt::join(names, ", ")));
}

}  // namespace luminal
