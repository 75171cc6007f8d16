#include "luminal/io/model/folder_format.h"

#include <filesystem>

#include "luminal/io/model_folder.h"

namespace luminal::io {
namespace {

// Any folder: opening one that holds no model says what it lacks.
bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

ModelFiles open_folder_model(const std::string& path) {
  const ModelFolder folder = ModelFolder::open(path);
  return {.description = describe_model(folder.config, folder.generation_config),
          .weights = std::make_shared<const SafeTensors>(folder.tensors),
          .open_tokenizer = [path] { return Tokenizer::open(path); }};
}

}  // namespace

FileFormat folder_format() {
  return {.name = std::string(kHuggingFaceFormat),
          .recognises = is_folder,
          .open_weights =
              [](const std::string& path) {
                return std::make_shared<const SafeTensors>(SafeTensors::open(path));
              },
          .open_model = open_folder_model};
}

}  // namespace luminal::io
