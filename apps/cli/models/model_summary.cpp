#include "apps/cli/models/model_summary.h"

#include <fmt/format.h>

#include <map>

#include "luminal/base/errors.h"
#include "luminal/base/os/memory.h"
#include "luminal/llm/embedding_model.h"
#include "luminal/llm/families.h"
#include "luminal/llm/model.h"

namespace luminal::cli {
namespace {

const nlohmann::ordered_json* value_named(const ModelListing& listing, const std::string& key) {
  for (const MetadataRow& row : listing.metadata) {
    if (row.key == key) return &row.value;
  }
  return nullptr;
}

std::string architecture_of(const ModelListing& listing) {
  for (const char* key : {"general.architecture", "config.model_type"}) {
    const auto* value = value_named(listing, key);
    if (value != nullptr && value->is_string()) return *value;
  }
  return {};
}

std::optional<int64_t> context_length(const ModelListing& listing,
                                      const std::string& architecture) {
  for (const std::string& key :
       {architecture + ".context_length", std::string("config.max_position_embeddings")}) {
    const auto* value = value_named(listing, key);
    if (value != nullptr && value->is_number_integer()) return *value;
  }
  return std::nullopt;
}

// The dtype that takes the most bytes.
std::string main_dtype(const ModelListing& listing) {
  std::map<std::string, int64_t> bytes;
  std::string most;
  for (const TensorInfo& info : listing.tensors) {
    int64_t& sum = bytes[info.file_dtype];
    sum += info.n_bytes;
    if (most.empty() || sum > bytes[most]) most = info.file_dtype;
  }
  return most;
}

std::string why_it_cannot_be_read(const std::string& path, const std::string& architecture) {
  try {
    if (llm::known_families().gives_embeddings(architecture)) {
      llm::EmbeddingModel::open(path);
    } else {
      llm::Model::open(path);
    }
    return {};
  } catch (const UserError& error) {
    return error.what();
  }
}

std::string count_text(int64_t count) {
  const auto value = static_cast<double>(count);
  if (value >= 1e9) return fmt::format("{:.2f} B", value / 1e9);
  return value >= 1e6 ? fmt::format("{:.1f} M", value / 1e6) : fmt::format("{}", count);
}

}  // namespace

ModelSummary summarise(const std::string& path, const ModelListing& listing) {
  ModelSummary summary;
  summary.architecture = architecture_of(listing);
  summary.parameters = listing.n_elements();
  const std::string kind = listing.format.starts_with("GGUF") ? "GGUF" : "safetensors";
  const std::string dtype = main_dtype(listing);
  summary.format = dtype.empty() ? kind : kind + " " + dtype;
  summary.context = context_length(listing, summary.architecture);
  summary.bytes = listing.n_bytes();
  summary.why_not = why_it_cannot_be_read(path, summary.architecture);
  const uint64_t available = base::memory_info().available;
  if (summary.why_not.empty() && static_cast<uint64_t>(summary.bytes) > available) {
    summary.why_not =
        fmt::format("its weights take {:.1f} GB, and {:.1f} GB of memory are free",
                    static_cast<double>(summary.bytes) / 1e9, static_cast<double>(available) / 1e9);
  }
  return summary;
}

std::string summary_text(const ModelSummary& summary) {
  std::string text = summary.architecture.empty() ? "unknown architecture" : summary.architecture;
  text += fmt::format(", {} parameters, {}", count_text(summary.parameters), summary.format);
  if (summary.context) text += fmt::format(", context {}", *summary.context);
  const auto bytes = static_cast<double>(summary.bytes);
  text += bytes < 1e9 ? fmt::format(", {:.1f} MB", bytes / 1e6)
                      : fmt::format(", {:.2f} GB", bytes / 1e9);
  return text + "; runs here: " + (summary.why_not.empty() ? "yes" : "no, " + summary.why_not);
}

}  // namespace luminal::cli
