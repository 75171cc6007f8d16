// luminal inspect: the metadata and tensors of a model's file or folder, or what a .pt2 file's
// program takes, gives and needs, as a table or as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/cli/models/listing_text.h"
#include "apps/cli/models/model_listing.h"
#include "apps/cli/models/model_summary.h"
#include "apps/cli/models/program_listing.h"
#include "apps/cli/options/command.h"
#include "luminal/base/text/printable.h"
#include "luminal/pytorch/pt2.h"

namespace luminal::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostOfAValue = 100;  // bytes of its text in the table
constexpr size_t kMostItems = 8;       // shown of a list

struct PlanningOptions {
  std::string path;
  bool json = false;
};

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// On one line, shortened, with control characters escaped as in JSON.
std::string brief(const Json& value) {
  std::string text;
  if (value.is_array()) {
    text = "[";
    for (size_t i = 0; i < std::min(value.size(), kMostItems); ++i) {
      text += (i > 0 ? ", " : "") + brief(value[i]);
    }
    text += value.size() > kMostItems ? ", …]" : "]";
    return text;
  }
  text = dump(value);
  if (text.size() <= kMostOfAValue) return text;
  size_t end = kMostOfAValue;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::string dims_text(const TensorInfo& info) {
  return fmt::format("[{}]", fmt::join(info.dims, ", "));
}

void print_table(const PlanningOptions& options, const ModelListing& listing) {
  const std::string summary = summary_text(summarise(options.path, listing));
  std::cout << base::printable(summary) << "\n";
  std::cout << fmt::format("{}: {}\n", options.path, listing.format);
  size_t keys = 0, kinds = 0, names = 0, types = 0, dims = 0;
  for (const MetadataRow& row : listing.metadata) {
    keys = std::max(keys, listing_name(row.key).size());
    kinds = std::max(kinds, row.kind.size());
  }
  std::cout << fmt::format("metadata: {}\n", listing.metadata.size());
  for (const MetadataRow& row : listing.metadata) {
    const std::string kind = kinds > 0 ? fmt::format("{:<{}}  ", row.kind, kinds) : "";
    std::cout << fmt::format("  {:<{}}  {}{}\n", listing_name(row.key), keys, kind,
                             brief(row.value));
  }
  for (const TensorInfo& info : listing.tensors) {
    names = std::max(names, listing_name(info.name).size());
    types = std::max(types, info.file_dtype.size());
    dims = std::max(dims, dims_text(info).size());
  }
  std::cout << fmt::format("tensors: {}, {} elements, {}\n", listing.tensors.size(),
                           listing.n_elements(), listing_size(listing.n_bytes()));
  for (const TensorInfo& info : listing.tensors) {
    std::cout << fmt::format("  {:<{}}  {:<{}}  {:<{}}  {:>9}\n", listing_name(info.name), names,
                             info.file_dtype, types, dims_text(info), dims,
                             listing_size(info.n_bytes));
  }
}

void print_json(const PlanningOptions& options, const ModelListing& listing) {
  Json metadata = Json::object();
  for (const MetadataRow& row : listing.metadata) metadata[row.key] = row.value;
  Json tensors = Json::array();
  for (const TensorInfo& info : listing.tensors) {
    tensors.push_back({{"name", info.name},
                       {"type", info.file_dtype},
                       {"dims", info.dims},
                       {"bytes", info.n_bytes}});
  }
  const ModelSummary summary = summarise(options.path, listing);
  const Json in_short = {{"architecture", summary.architecture},
                         {"parameters", summary.parameters},
                         {"format", summary.format},
                         {"context", summary.context ? Json(*summary.context) : Json(nullptr)},
                         {"bytes", summary.bytes},
                         {"runs_here", summary.why_not.empty()},
                         {"why_not", summary.why_not}};
  const Json all = {{"path", options.path},         {"summary", in_short},
                    {"format", listing.format},     {"elements", listing.n_elements()},
                    {"bytes", listing.n_bytes()},   {"metadata", std::move(metadata)},
                    {"tensors", std::move(tensors)}};
  std::cout << all.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace

void define_inspect(CLI::App& app) {
  auto options = std::make_shared<PlanningOptions>();
  app.add_option("path", options->path,
                 "GGUF, safetensors or .pt2 file, or folder in Hugging Face's layout")
      ->required();
  app.add_flag("--json", options->json, "Print everything as JSON");
  app.callback([options] {
    if (pytorch::looks_like_pt2(options->path)) return print_program(options->path, options->json);
    const ModelListing listing = list_model(options->path);
    options->json ? print_json(*options, listing) : print_table(*options, listing);
  });
}

}  // namespace luminal::cli
