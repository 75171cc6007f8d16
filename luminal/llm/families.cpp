#include "luminal/llm/families.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "luminal/base/errors.h"

namespace luminal::llm {
namespace {

template <typename Family>
void add_to(std::vector<Family>& families, Family family) {
  if (!family.read) {
    throw UserError(fmt::format("model family '{}': set read", family.architecture));
  }
  families.push_back(std::move(family));
}

template <typename Family>
bool lists(const std::vector<Family>& families, std::string_view architecture) {
  return std::ranges::find(families, architecture, &Family::architecture) != families.end();
}

// `elsewhere` says who takes a model that isn't among these; empty for one that nobody does.
template <typename Family>
[[noreturn]] void fail_unknown(const std::vector<Family>& families,
                               const ModelDescription& description, std::string_view elsewhere) {
  const std::string what = fmt::format("'{}' is a model of the architecture '{}', ",
                                       description.settings->name(), description.architecture);
  if (!elsewhere.empty()) throw UserError(what + std::string(elsewhere));
  std::vector<std::string> names;
  for (const Family& family : families) {
    if (family.naming == description.naming) names.push_back(family.architecture);
  }
  throw UserError(what +
                  fmt::format("which isn't supported; those that are: {}", fmt::join(names, ", ")));
}

template <typename Family>
auto read_as(const std::vector<Family>& families, const ModelFiles& files,
             std::string_view elsewhere) {
  const ModelDescription& description = files.description;
  for (const Family& family : families | std::views::reverse) {
    if (family.architecture != description.architecture || family.naming != description.naming) {
      continue;
    }
    auto found = family.read(files);
    found.architecture = description.architecture;
    return found;
  }
  fail_unknown(families, description, elsewhere);
}

}  // namespace

Families& Families::add(DecoderFamily family) {
  add_to(decoders_, std::move(family));
  return *this;
}

Families& Families::add(EncoderFamily family) {
  add_to(encoders_, std::move(family));
  return *this;
}

Decoder Families::decoder(const ModelFiles& files) const {
  const bool embeds = gives_embeddings(files.description.architecture);
  return read_as(decoders_, files,
                 embeds ? "which gives embeddings, not text: use `luminal embed` or llm::Embedder, "
                          "with its folder in Hugging Face's layout"
                        : "");
}

Encoder Families::encoder(const ModelFiles& files) const {
  const bool writes = writes_text(files.description.architecture);
  return read_as(encoders_, files,
                 writes ? "which writes text and gives no embeddings: use `luminal run`, `luminal "
                          "chat` or llm::Session; a BERT model embeds"
                        : "");
}

bool Families::writes_text(std::string_view architecture) const {
  return lists(decoders_, architecture);
}

bool Families::gives_embeddings(std::string_view architecture) const {
  return lists(encoders_, architecture);
}

}  // namespace luminal::llm
