// Families: which models can be built, by the architecture and the naming of their files.
//
//   llm::Families families = llm::known_families();
//   families.add(llm::DecoderFamily{.architecture = "mine", .naming = "huggingface", .read =
//   read}); llm::Model model = llm::Model::open(path, {.families = families});
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/io/file_format.h"
#include "luminal/llm/decoder.h"
#include "luminal/llm/encoder.h"

namespace luminal::llm {

// Models that write text. `read` checks the settings, and may look at the names and dims of
// weights; it throws a UserError that names what can't be. A family whose files come in two namings
// is two entries.
struct DecoderFamily {
  std::string architecture;  // as files call it: ModelDescription::architecture
  std::string naming;        // of the files it reads: ModelDescription::naming
  std::function<Decoder(const ModelFiles&)> read;
};

// Models that give embeddings.
struct EncoderFamily {
  std::string architecture;
  std::string naming;
  std::function<Encoder(const ModelFiles&)> read;
};

class LUMINAL_API Families {
 public:
  // Of two families with the same architecture and naming the one that was added last counts.
  Families& add(DecoderFamily family);
  Families& add(EncoderFamily family);

  // The model that the files describe. UserError for an architecture that isn't in the list, which
  // names those that are, and for settings that can't be.
  Decoder decoder(const ModelFiles& files) const;
  Encoder encoder(const ModelFiles& files) const;

  // Whether there is such a family, of any naming.
  bool writes_text(std::string_view architecture) const;
  bool gives_embeddings(std::string_view architecture) const;

 private:
  std::vector<DecoderFamily> decoders_;
  std::vector<EncoderFamily> encoders_;
};

// Those of llm/models, one folder each.
LUMINAL_API Families known_families();

// What a model is opened with: the defaults are all that the library has.
struct OpenOptions {
  FileFormats formats = known_formats();
  Families families = known_families();
};

}  // namespace luminal::llm
