#include "luminal/io/foreign_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace luminal {
namespace {

constexpr std::string_view kSaveFolder =
    "save the model as a folder with config.json, safetensors and its tokenizer "
    "(model.save_pretrained and tokenizer.save_pretrained of transformers), or convert it to GGUF";

struct Format {
  std::array<std::string_view, 4> endings;
  std::string_view start;  // the first bytes, where they tell; empty: only the ending does
  std::string_view what;
  std::string_view way_out = kSaveFolder;
};

using namespace std::string_view_literals;

constexpr Format kFormats[] = {
    {{".onnx"}, ""sv, "an ONNX model, which isn't read yet"},
    {{".pt2"},
     ""sv,
     "an exported PyTorch program, a graph and no language model",
     "leave out the prompt and options of language models: `luminal run FILE` runs it as a graph"},
    {{".pt", ".pth", ".ckpt", ".bin"},
     ""sv,
     "a PyTorch checkpoint, which is a pickle that can run code"},
    {{}, "\x80\x02"sv, "a Python pickle, which can run code"},
    {{".safetensors"},
     ""sv,
     "a file of weights alone",
     "give the folder that holds it with config.json and the tokenizer"},
    {{".h5", ".hdf5", ".keras"}, "\x89HDF"sv, "a Keras model, which isn't read"},
    {{".tflite"}, ""sv, "a TensorFlow Lite model, which isn't read"},
    {{".ggml"}, "lmgg"sv, "a GGML file, the format before GGUF", "convert it to GGUF"},
    {{}, "tjgg"sv, "a GGML file, the format before GGUF", "convert it to GGUF"},
};

}  // namespace

std::optional<std::string> foreign_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  std::array<char, 4> bytes = {};
  std::ifstream(path, std::ios::binary).read(bytes.data(), bytes.size());
  const std::string_view start(bytes.data(), bytes.size());
  const std::string ending = std::filesystem::path(path).extension().string();
  for (const Format& format : kFormats) {
    const bool named =
        !ending.empty() && std::ranges::find(format.endings, ending) != format.endings.end();
    const bool begins = !format.start.empty() && start.starts_with(format.start);
    if (named || begins) return std::string(format.what) + "; " + std::string(format.way_out);
  }
  return std::nullopt;
}

}  // namespace luminal
