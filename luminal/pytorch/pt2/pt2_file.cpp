#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "luminal/base/errors.h"
#include "luminal/base/os/memory.h"
#include "luminal/base/text/json_depth.h"
#include "luminal/graph/strided_data.h"
#include "luminal/io/file/json_fault.h"
#include "luminal/io/file/quote.h"
#include "luminal/pytorch/pt2.h"
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
  explicit Contents(const std::string& of)
      : path(of), file(std::make_shared<base::MappedFile>(of)), archive(file->bytes(), of) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("{}: {}", path, what));
  }

  // All members lie in one folder, which has the file's name when it was saved.
  void find_root() {
    for (const auto& [name, bytes] : archive.members()) {
      const size_t slash = name.find('/');
      if (slash == std::string::npos || name.substr(slash) != "/archive_format") continue;
      root = name.substr(0, slash + 1);
      if (!text_of(bytes).starts_with("pt2")) fail("its archive_format isn't pt2");
      return;
    }
    fail(
        "it has no archive_format: it isn't a .pt2 file, or was saved before torch 2.8; save it "
        "again with torch.export.save()");
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
      for (const auto& [name, entry] : json.at("config").items()) read_tensor(folder, name, entry);
    } catch (const nlohmann::json::exception& error) {
      fail(fmt::format("{}: {}", config, io::json_fault(error.what())));
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
    Stored tensor{.storage = member(folder + entry.at("path_name").get<std::string>()),
                  .dtype = dtype_by_number(meta.at("dtype").get<int64_t>(), name),
                  .dims = {},
                  .strides = {}};
    for (const Json& dim : meta.at("sizes")) tensor.dims.push_back(dim.at("as_int").get<int64_t>());
    for (const Json& stride : meta.at("strides")) {
      tensor.strides.push_back(stride.at("as_int").get<int64_t>());
    }
    tensor.offset = meta.at("storage_offset").at("as_int").get<int64_t>();
    check_inside(name, tensor);
    tensors.emplace(name, std::move(tensor));
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

  std::string path;
  std::shared_ptr<base::MappedFile> file;
  ZipArchive archive;
  std::string root;
  ExportedProgram program;
  std::map<std::string, Stored> tensors;
};

Pt2File::Pt2File(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}

Pt2File Pt2File::open(const std::string& path) {
  auto contents = std::make_shared<Contents>(path);
  contents->find_root();
  const std::string_view order = text_of(contents->member("byteorder"));
  if (order != "little") contents->fail("its tensors aren't in little-endian byte order");
  contents->program = parse_program(text_of(contents->member("models/model.json")), path);
  contents->read_tensors("data/weights/", "model_weights_config.json");
  contents->read_tensors("data/constants/", "model_constants_config.json");
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
  return row_major(tensor.dtype, tensor.dims, tensor.strides, tensor.storage.data() + offset,
                   contents_->file);
}

}  // namespace luminal::pytorch
