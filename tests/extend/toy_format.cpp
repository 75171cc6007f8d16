#include "tests/extend/toy_format.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace luminal::toy {
namespace {

constexpr std::string_view kStart = "TOY";

bool is_toy(const std::string& path) {
  char start[kStart.size()] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof(start));
  return std::string_view(start, sizeof(start)) == kStart;
}

// Letters, and a last token that ends a text.
Tokenizer tokenizer_of(const ToyFile& file) {
  VocabularyData data;
  data.source = file.name();
  data.model = "gpt2";
  data.tokens = file.tokens();
  data.types.assign(data.tokens.size(), VocabularyData::kNormal);
  data.types.back() = VocabularyData::kControl;
  data.eos = static_cast<uint32_t>(data.tokens.size() - 1);
  return Tokenizer::from_vocabulary(data);
}

ModelFiles open_toy_model(const std::string& path) {
  const std::shared_ptr<const ToyFile> file = ToyFile::open(path);
  return {.description = {.architecture = file->settings().text_at("architecture"),
                          .naming = std::string(kNaming),
                          .settings = std::make_shared<const Config>(file->settings())},
          .weights = file,
          .open_tokenizer = [file] { return tokenizer_of(*file); }};
}

}  // namespace

void ToyFile::fail(const std::string& message) const {
  throw UserError("toy: '" + path_ + "': " + message);
}

std::shared_ptr<const ToyFile> ToyFile::open(const std::string& path) {
  std::shared_ptr<ToyFile> file(new ToyFile(path));
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line) || line != kStart) file->fail("doesn't begin with TOY");
  while (std::getline(in, line)) file->read_line(line);
  std::ranges::sort(file->tensors_, {}, &TensorInfo::name);
  return file;
}

void ToyFile::read_line(const std::string& line) {
  std::istringstream words(line);
  std::string first, token;
  words >> first;
  if (line.starts_with('{')) {
    settings_ = Config::parse(line, path_);
  } else if (first == "tokens") {
    while (words >> token) tokens_.push_back(token);
  } else if (first == "tensor") {
    read_tensor(words);
  } else {
    fail("has the line '" + line + "', which is neither settings, tokens nor a tensor");
  }
}

void ToyFile::read_tensor(std::istream& words) {
  TensorInfo info{.name = {}, .file_dtype = "text", .dtype = DType::F32, .dims = {}};
  std::string dim;
  words >> info.name;
  int64_t count = 1;
  while (words >> dim && dim != ":") count *= info.dims.emplace_back(std::stoll(dim));
  std::vector<float> values;
  for (float value = 0; words >> value;) values.push_back(value);
  if (static_cast<int64_t>(values.size()) != count) {
    fail("tensor '" + info.name + "' has " + std::to_string(values.size()) + " elements, not " +
         std::to_string(count));
  }
  info.n_bytes = count * static_cast<int64_t>(sizeof(float));
  data_.emplace(info.name, TensorData::copy_of(std::span<const float>(values), info.dims));
  tensors_.push_back(std::move(info));
}

TensorData ToyFile::data(std::string_view name) const {
  const auto found = data_.find(name);
  if (found == data_.end()) fail("there is no tensor '" + std::string(name) + "'");
  return found->second;
}

FileFormat toy_format() {
  return {.name = "toy",
          .recognises = is_toy,
          .open_weights = ToyFile::open,
          .open_model = open_toy_model};
}

TemporaryToy::TemporaryToy(const std::string& text) {
  std::random_device random;
  path_ = (std::filesystem::temp_directory_path() / ("luminal-toy-" + std::to_string(random())))
              .string();
  std::ofstream(path_) << text;
}

TemporaryToy::~TemporaryToy() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace luminal::toy
