#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "luminal/base/errors.h"
#include "luminal/base/os/memory.h"
#include "luminal/base/text/json_depth.h"
#include "luminal/graph/strided_data.h"
#include "luminal/io/file/json_fault.h"
#include "luminal/io/file/quote.h"
#include "luminal/io/foreign_file.h"
#include "luminal/pytorch/pt2.h"
#include "luminal/pytorch/pt2/argument_json.h"
#include "luminal/pytorch/pt2/json_values.h"
#include "luminal/pytorch/pt2/program_json.h"
#include "luminal/pytorch/pt2/zip_archive.h"

namespace luminal::pytorch {
namespace {

using Json = nlohmann::json;

constexpr int kDeepestConfig = 64;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// How a tensor lies in its storage.
struct Stored {
  std::span<const std::byte> storage;
  DType dtype;
  std::vector<int64_t> dims, strides;
  int64_t offset = 0;
};

}  // namespace

struct Pt2File::Contents {
  Contents(std::span<const std::byte> bytes, std::shared_ptr<const void> of,
           const std::string& named)
      : path(named), size(bytes.size()), owner(std::move(of)), archive(bytes, named) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("{}: {}", path, what));
  }

  // All members lie in one folder, which has the file's name when it was saved.
  void find_root() {
    for (const auto& [name, bytes] : archive.members()) {
      const size_t slash = name.find('/');
      if (slash == std::string::npos || name.substr(slash) != "/archive_format") continue;
      if (!root.empty()) fail("it holds two programs, in " + root + " and " + name);
      root = name.substr(0, slash + 1);
      if (text_of(bytes) != "pt2") fail("its archive_format isn't pt2");
    }
    if (!root.empty()) return;
    fail(
        "it has no archive_format: it isn't a .pt2 file, or was saved before torch 2.8; save it "
        "again with torch.export.save()");
  }

  void check_version() const {
    const std::string_view version = text_of(member("archive_version"));
    if (version != "0") {
      fail(
          fmt::format("its archive_version is {}, not 0: it was saved by a version of PyTorch that "
                      "isn't known",
                      io::quote(version)));
    }
    if (text_of(member("byteorder")) != "little") {
      fail("its tensors aren't in little-endian byte order");
    }
  }

  std::span<const std::byte> member(const std::string& name) const {
    return archive.member(root + name);
  }

  void read_tensors(const std::string& folder, const std::string& config) {
    const auto found = archive.members().find(root + folder + config);
    if (found == archive.members().end()) return;
    const std::string_view text = text_of(found->second);
    if (base::json_depth(text) > kDeepestConfig) fail(config + " is nested too deeply");
    try {
      const Json json = Json::parse(text);
      for (const auto& [name, entry] : json.at("config").items())
        read_entry(folder, config, name, entry);
    } catch (const nlohmann::json::exception& error) {
      fail(fmt::format("{}: {}", config, io::json_fault(error.what())));
    }
  }

  // UserErrors and faults of the JSON say which tensor they are about.
  void read_entry(const std::string& folder, const std::string& config, const std::string& name,
                  const Json& entry) {
    try {
      read_tensor(folder, name, entry);
    } catch (const nlohmann::json::exception& error) {
      fail(fmt::format("{}: {}: {}", config, io::quote(name), io::json_fault(error.what())));
    } catch (const UserError& error) {
      const std::string message = error.what();
      if (message.starts_with(path)) throw;
      fail(fmt::format("{}: {}", config, message));
    }
  }

  void read_tensor(const std::string& folder, const std::string& name, const Json& entry) {
    if (entry.at("use_pickle").get<bool>()) {
      fail(
          fmt::format("{} is stored as a pickle, which isn't read: it is a tensor subclass or a "
                      "script object; make it a plain tensor before exporting",
                      io::quote(name)));
    }
    const Json& meta = entry.at("tensor_meta");
    Stored tensor{.storage = member(folder + name_of(entry.at("path_name"))),
                  .dtype = dtype_by_number(integer_of(meta.at("dtype")), name),
                  .dims = {},
                  .strides = {}};
    for (const Json& dim : meta.at("sizes")) tensor.dims.push_back(known_size_of(dim));
    for (const Json& stride : meta.at("strides")) {
      tensor.strides.push_back(known_size_of(stride));
    }
    tensor.offset = known_size_of(meta.at("storage_offset"));
    check_inside(name, tensor);
    count_copies(name, tensor);
    if (!tensors.emplace(name, std::move(tensor)).second) {
      fail(fmt::format("tensor {} is among the weights and the constants", io::quote(name)));
    }
  }

  // A tensor with strides is copied when it is read; one that repeats elements may be larger than
  // the file.
  void count_copies(const std::string& name, const Stored& tensor) {
    constexpr int64_t kMostMore = int64_t{64} << 20;
    int64_t bytes = byte_size(tensor.dtype, 1), expected = 1;
    bool fits = true, in_order = true;
    for (size_t axis = tensor.dims.size(); axis-- > 0;) {
      in_order = in_order && (tensor.dims[axis] == 1 || tensor.strides[axis] == expected);
      fits = !__builtin_mul_overflow(bytes, tensor.dims[axis], &bytes) && fits;
      fits = !__builtin_mul_overflow(expected, tensor.dims[axis], &expected) && fits;
    }
    if (std::ranges::find(tensor.dims, 0) != tensor.dims.end() || (fits && in_order)) return;
    fits = fits && !__builtin_add_overflow(copied, bytes, &copied);
    if (fits && copied <= static_cast<int64_t>(size) + kMostMore) return;
    fail(fmt::format(
        "tensor {} repeats the elements of its storage, to more bytes than the file has: call "
        "contiguous() before exporting",
        io::quote(name)));
  }

  void check_inside(const std::string& name, const Stored& tensor) const {
    bool fits = tensor.offset >= 0 && tensor.dims.size() == tensor.strides.size();
    int64_t last = tensor.offset;
    bool empty = false;
    for (size_t axis = 0; fits && axis < tensor.dims.size(); ++axis) {
      int64_t reach = 0;
      fits = tensor.dims[axis] >= 0 && tensor.strides[axis] >= 0;
      empty = empty || tensor.dims[axis] == 0;
      fits = fits &&
             !__builtin_mul_overflow(std::max<int64_t>(tensor.dims[axis] - 1, 0),
                                     tensor.strides[axis], &reach) &&
             !__builtin_add_overflow(last, reach, &last);
    }
    const auto room = static_cast<int64_t>(tensor.storage.size()) / byte_size(tensor.dtype, 1);
    if (fits && (empty || last < room)) return;
    fail(fmt::format("tensor {} reaches outside of its storage of {} bytes", io::quote(name),
                     tensor.storage.size()));
  }

  // What the graph says of its parameters, buffers and constants is what the file holds.
  void check_inputs() const {
    for (const ProgramInput& input : program.inputs) {
      if (input.role == InputRole::User || input.role == InputRole::Literal) continue;
      const auto found = tensors.find(input.path);
      if (found == tensors.end()) {
        fail(fmt::format("the elements of {} aren't in it", io::quote(input.path)));
      }
      const Stored& stored = found->second;
      const bool equal = std::ranges::equal(
          input.dims, stored.dims, [](Expr dim, int64_t extent) { return dim.is(extent); });
      if (equal && input.dtype == stored.dtype) continue;
      fail(fmt::format("{} is {}{} in the graph, and {}[{}] among the tensors",
                       io::quote(input.path), name(input.dtype), text(input.dims),
                       name(stored.dtype), fmt::join(stored.dims, ", ")));
    }
  }

  std::string path;
  size_t size;
  std::shared_ptr<const void> owner;
  ZipArchive archive;
  std::string root;
  ExportedProgram program;
  std::map<std::string, Stored> tensors;
  int64_t copied = 0;  // bytes of the tensors that are copied when they are read
};

bool looks_like_pt2(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  if (std::filesystem::path(path).extension() == ".pt2") return true;
  std::array<char, 4> start = {};
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  return std::string_view(start.data(), start.size()) == "PK\3\4" && !foreign_file(path);
}

Pt2File::Pt2File(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}

Pt2File Pt2File::open(const std::string& path) {
  auto file = std::make_shared<const base::MappedFile>(path);
  const std::span<const std::byte> bytes = file->bytes();
  return parse(bytes, std::move(file), path);
}

Pt2File Pt2File::parse(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                       const std::string& name) {
  auto contents = std::make_shared<Contents>(bytes, std::move(owner), name);
  contents->find_root();
  contents->check_version();
  contents->program = parse_program(text_of(contents->member("models/model.json")), name);
  contents->read_tensors("data/weights/", "model_weights_config.json");
  contents->read_tensors("data/constants/", "model_constants_config.json");
  contents->check_inputs();
  return Pt2File(std::move(contents));
}

const ExportedProgram& Pt2File::program() const { return contents_->program; }

TensorData Pt2File::data(const std::string& path) const {
  const auto found = contents_->tensors.find(path);
  if (found == contents_->tensors.end()) {
    contents_->fail(fmt::format("there is no tensor {}", io::quote(path)));
  }
  const Stored& tensor = found->second;
  // Of a tensor without elements the offset may lie anywhere.
  const bool empty = std::ranges::find(tensor.dims, 0) != tensor.dims.end();
  const int64_t offset = empty ? 0 : tensor.offset * byte_size(tensor.dtype, 1);
  TensorData elements = row_major(tensor.dtype, tensor.dims, tensor.strides,
                                  tensor.storage.data() + offset, contents_->owner);
  const bool is_bool = tensor.dtype == DType::Bool;
  if (is_bool &&
      std::ranges::any_of(elements.bytes, [](std::byte b) { return b > std::byte{1}; })) {
    contents_->fail(
        fmt::format("tensor {} of bools has a byte that is neither 0 nor 1", io::quote(path)));
  }
  return elements;
}

}  // namespace luminal::pytorch
