// Writing safetensors: one file, or shards with an index.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "luminal/base/errors.h"
#include "luminal/base/os/process.h"
#include "luminal/io/file/quote.h"
#include "luminal/io/safetensors.h"
#include "luminal/io/safetensors/safetensors_header.h"

namespace luminal {
namespace {

namespace fs = std::filesystem;
using io::quote;

using Tensors = std::vector<const NamedData*>;

[[noreturn]] void fail_write(const std::string& message) {
  throw UserError("write_safetensors: " + message);
}

void check_tensor(const NamedData& tensor) {
  if (tensor.name == "__metadata__") {
    fail_write("'__metadata__' can't be a tensor's name: the format keeps it for itself");
  }
  if (io::file_dtype(tensor.data.dtype).empty()) {
    fail_write(fmt::format("tensor {} is {}, which the format can't hold; cast it first",
                           quote(tensor.name), name(tensor.data.dtype)));
  }
  for (int64_t dim : tensor.data.dims) {
    if (dim < 0) fail_write(fmt::format("tensor {} has the dim {}", quote(tensor.name), dim));
  }
  auto expected = byte_size(tensor.data.dtype, tensor.data.n_elements());
  if (static_cast<int64_t>(tensor.data.bytes.size()) != expected) {
    fail_write(fmt::format("tensor {} holds {} bytes, but its dims and dtype take {}",
                           quote(tensor.name), tensor.data.bytes.size(), expected));
  }
}

// Checked, and sorted by name.
Tensors checked(const std::vector<NamedData>& tensors) {
  Tensors sorted;
  for (const NamedData& tensor : tensors) {
    check_tensor(tensor);
    sorted.push_back(&tensor);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const NamedData* a, const NamedData* b) { return a->name < b->name; });
  auto twice =
      std::adjacent_find(sorted.begin(), sorted.end(),
                         [](const NamedData* a, const NamedData* b) { return a->name == b->name; });
  if (twice != sorted.end()) {
    fail_write(fmt::format("two tensors are named {}", quote((*twice)->name)));
  }
  return sorted;
}

// Removes the temporary file unless it was renamed into place.
class NewFile {
 public:
  explicit NewFile(const std::string& path) : path_(path) {
    static std::atomic<int> counter{0};
    temporary_ = fmt::format("{}.tmp-{}-{}", path, base::process_id(), counter++);
    stream_.open(temporary_, std::ios::binary | std::ios::trunc);
    if (!stream_)
      fail_write(
          fmt::format("can't create {}; is its folder there and writable?", quote(temporary_)));
  }
  ~NewFile() {
    std::error_code ignored;
    if (!done_) fs::remove(temporary_, ignored);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(const void* data, size_t size) {
    stream_.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  void commit() {
    stream_.close();
    if (!stream_) {
      throw DeviceError(fmt::format("can't write {}; is the disk full?", quote(temporary_)));
    }
    std::error_code error;
    fs::rename(temporary_, path_, error);
    if (error) fail_write(fmt::format("can't create {}: {}", quote(path_), error.message()));
    done_ = true;
  }

 private:
  std::string path_;
  std::string temporary_;
  std::ofstream stream_;
  bool done_ = false;
};

// Turns the JSON library's complaint about text that isn't UTF-8 into ours.
template <typename Function>
auto as_utf8(Function function) {
  try {
    return function();
  } catch (const nlohmann::json::exception&) {
    fail_write("a tensor's name, or the metadata, isn't valid UTF-8");
  }
}

void write_file(const std::string& path, Tensors tensors, const Metadata& metadata) {
  std::sort(tensors.begin(), tensors.end(), [](const NamedData* a, const NamedData* b) {
    return std::pair(-bits(a->data.dtype), std::string_view(a->name)) <
           std::pair(-bits(b->data.dtype), std::string_view(b->name));
  });
  std::vector<io::HeaderEntry> entries;
  int64_t offset = 0;
  for (const NamedData* tensor : tensors) {
    auto n_bytes = static_cast<int64_t>(tensor->data.bytes.size());
    entries.push_back({.info = {.name = tensor->name,
                                .file_dtype = std::string(io::file_dtype(tensor->data.dtype)),
                                .dtype = tensor->data.dtype,
                                .dims = tensor->data.dims,
                                .n_bytes = n_bytes},
                       .begin = offset});
    offset += n_bytes;
  }
  std::string header = as_utf8([&] { return io::print_header(entries, metadata); });
  if (header.size() > io::kMaxHeaderBytes) {
    fail_write(
        fmt::format("the header of {} would have {} bytes, over the format's limit of {}; write it "
                    "in shards",
                    quote(path), header.size(), io::kMaxHeaderBytes));
  }
  NewFile file(path);
  uint64_t length = header.size();
  file.write(&length, sizeof(length));
  file.write(header.data(), header.size());
  for (const NamedData* tensor : tensors) {
    file.write(tensor->data.bytes.data(), tensor->data.bytes.size());
  }
  file.commit();
}

// Consecutive tensors, each group within the limit or a single tensor.
std::vector<Tensors> split_shards(const Tensors& tensors, int64_t max_shard_bytes) {
  std::vector<Tensors> shards(1);
  int64_t filled = 0;
  for (const NamedData* tensor : tensors) {
    auto n_bytes = static_cast<int64_t>(tensor->data.bytes.size());
    if (!shards.back().empty() && n_bytes > max_shard_bytes - filled) {
      shards.emplace_back();
      filled = 0;
    }
    shards.back().push_back(tensor);
    filled += n_bytes;
  }
  return shards;
}

}  // namespace

void write_safetensors(const std::string& path, const std::vector<NamedData>& tensors,
                       const Metadata& metadata) {
  write_file(path, checked(tensors), metadata);
}

void write_sharded(const std::string& folder, const std::vector<NamedData>& tensors,
                   int64_t max_shard_bytes, const Metadata& metadata) {
  if (max_shard_bytes <= 0) {
    fail_write(fmt::format("max_shard_bytes is {}; it must be positive", max_shard_bytes));
  }
  std::vector<Tensors> shards = split_shards(checked(tensors), max_shard_bytes);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    fail_write(fmt::format("can't create the folder {}: {}", quote(folder), error.message()));
  }

  fs::path single = fs::path(folder) / "model.safetensors";
  if (shards.size() == 1) return write_file(single.string(), shards.front(), metadata);
  if (fs::exists(single, error)) {
    fail_write(
        fmt::format("{} is there already and readers would prefer it to the shards; remove it "
                    "first",
                    quote(single.string())));
  }
  io::ShardIndex index;
  int64_t total = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    std::string file = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
    write_file((fs::path(folder) / file).string(), shards[i], metadata);
    for (const NamedData* tensor : shards[i]) {
      index.weight_map.emplace_back(tensor->name, file);
      total += static_cast<int64_t>(tensor->data.bytes.size());
    }
  }
  std::string text = as_utf8([&] { return io::print_index(index, total); });
  NewFile file((fs::path(folder) / "model.safetensors.index.json").string());
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace luminal
