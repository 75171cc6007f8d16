#include "luminal/io/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <utility>

#include "luminal/base/errors.h"
#include "luminal/base/os/memory.h"
#include "luminal/io/file/elements_in_file.h"
#include "luminal/io/file/quote.h"
#include "luminal/io/safetensors/safetensors_header.h"

namespace luminal {
namespace {

using io::quote;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::string_view kSingleFile = "model.safetensors";
constexpr std::string_view kIndexFile = "model.safetensors.index.json";

[[noreturn]] void fail_safetensors(std::string_view file, const std::string& message) {
  throw UserError(fmt::format("safetensors: {}: {}", quote(file), message));
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The header's text; what follows it is the data.
std::string_view header_text(std::span<const std::byte> bytes, const std::string& name) {
  uint64_t length = 0;
  if (bytes.size() < sizeof(length)) {
    fail_safetensors(
        name, fmt::format("has {} bytes, too few for the 8-byte header length; the file is cut "
                          "short or isn't a safetensors file",
                          bytes.size()));
  }
  std::memcpy(&length, bytes.data(), sizeof(length));
  if (length > io::kMaxHeaderBytes) {
    fail_safetensors(
        name, fmt::format("the header length {} is over the limit of {} bytes; the file is damaged "
                          "or isn't a safetensors file",
                          length, io::kMaxHeaderBytes));
  }
  if (length > bytes.size() - sizeof(length)) {
    fail_safetensors(
        name, fmt::format("the header length {} is more than the {} bytes that follow it; the file "
                          "is cut short or isn't a safetensors file",
                          length, bytes.size() - sizeof(length)));
  }
  return as_text(bytes.subspan(sizeof(length), length));
}

void check_bools(std::span<const std::byte> bytes, std::string_view file, std::string_view name) {
  auto bad = std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte{1}; });
  if (bad == bytes.end()) return;
  fail_safetensors(
      file, fmt::format("tensor {} is BOOL but holds {} at element {}; only 0 and 1 are bools",
                        quote(name), std::to_integer<int>(*bad), bad - bytes.begin()));
}

}  // namespace

struct SafeTensors::Contents {
  struct Location {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
  };

  std::string name;
  std::vector<TensorInfo> tensors;  // sorted by name
  std::vector<Location> locations;  // of each tensor
  Metadata metadata;
};

SafeTensors::SafeTensors(std::shared_ptr<const Contents> contents)
    : contents_(std::move(contents)) {}

SafeTensors SafeTensors::parse(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                               std::string name) {
  std::string_view text = header_text(bytes, name);
  auto data = bytes.subspan(sizeof(uint64_t) + text.size());
  io::Header header = io::parse_header(text, static_cast<int64_t>(data.size()), name);

  auto contents = std::make_shared<Contents>();
  contents->name = std::move(name);
  contents->metadata = std::move(header.metadata);
  contents->tensors.reserve(header.entries.size());
  contents->locations.reserve(header.entries.size());
  for (io::HeaderEntry& entry : header.entries) {
    auto begin = static_cast<size_t>(entry.begin);
    auto size = static_cast<size_t>(entry.info.n_bytes);
    contents->locations.push_back({.bytes = data.subspan(begin, size), .owner = owner});
    contents->tensors.push_back(std::move(entry.info));
  }
  return SafeTensors(std::move(contents));
}

SafeTensors SafeTensors::open(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    fs::path single = fs::path(path) / kSingleFile;
    if (fs::exists(single, ignored)) return open_file(single.string());
    fs::path index = fs::path(path) / kIndexFile;
    if (fs::exists(index, ignored)) return open_index(index.string());
    fail_safetensors(path,
                     fmt::format("the folder holds neither {} nor {}", kSingleFile, kIndexFile));
  }
  return path.ends_with(".json") ? open_index(path) : open_file(path);
}

SafeTensors SafeTensors::open_file(const std::string& path) {
  auto file = std::make_shared<const base::MappedFile>(path);
  return parse(file->bytes(), file, path);
}

SafeTensors SafeTensors::open_index(const std::string& path) {
  base::MappedFile file(path);
  if (file.size() > io::kMaxHeaderBytes) {
    fail_safetensors(path, fmt::format("the index has {} bytes, over the limit of {}", file.size(),
                                       io::kMaxHeaderBytes));
  }
  io::ShardIndex index = io::parse_index(as_text(file.bytes()), path);

  std::map<std::string, SafeTensors> shards;
  for (const auto& [name, shard] : index.weight_map) {
    if (shards.contains(shard)) continue;
    auto shard_path = std::filesystem::path(path).parent_path() / shard;
    shards.emplace(shard, open_file(shard_path.string()));
  }

  auto contents = std::make_shared<Contents>();
  contents->name = path;
  for (const auto& [name, shard_name] : index.weight_map) {
    const SafeTensors& shard = shards.at(shard_name);
    const TensorInfo* info = shard.find(name);
    if (!info) {
      fail_safetensors(path, fmt::format("tensor {} should be in {}, but that file lacks it",
                                         quote(name), quote(shard_name)));
    }
    const Contents& from = *shard.contents_;
    contents->tensors.push_back(*info);
    contents->locations.push_back(from.locations[static_cast<size_t>(info - from.tensors.data())]);
  }
  SafeTensors result(contents);
  for (const auto& [shard_name, shard] : shards) {
    contents->metadata.insert(shard.metadata().begin(), shard.metadata().end());
    for (const TensorInfo& info : shard.tensors()) {
      if (result.find(info.name)) continue;
      fail_safetensors(
          path, fmt::format("tensor {} of {} isn't in the index; add it, or open that file by "
                            "itself",
                            quote(info.name), quote(shard_name)));
    }
  }
  return result;
}

const std::vector<TensorInfo>& SafeTensors::tensors() const { return contents_->tensors; }
const Metadata& SafeTensors::metadata() const { return contents_->metadata; }
const std::string& SafeTensors::name() const { return contents_->name; }

TensorData SafeTensors::data(std::string_view name) const {
  const TensorInfo* info = find(name);
  if (!info) {
    fail_safetensors(contents_->name,
                     fmt::format("there is no tensor {}; tensors() lists the {} there are",
                                 quote(name), contents_->tensors.size()));
  }
  if (!info->dtype) {
    fail_safetensors(
        contents_->name,
        fmt::format("tensor {} has dtype {}, which isn't supported; convert it with another tool",
                    quote(name), quote(info->file_dtype)));
  }
  const Contents::Location& location =
      contents_->locations[static_cast<size_t>(info - contents_->tensors.data())];
  if (info->dtype == DType::Bool) check_bools(location.bytes, contents_->name, name);
  return io::elements_in_file(*info->dtype, info->dims, location.bytes, location.owner);
}

}  // namespace luminal
