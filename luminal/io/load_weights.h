// load_weights: gives the weights of a graph their data, by name, from a file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/base/visibility.h"
#include "luminal/graph/composite/quantised.h"
#include "luminal/graph/graph.h"
#include "luminal/io/gguf.h"
#include "luminal/io/safetensors.h"
#include "luminal/io/weight_source.h"

namespace luminal {

struct LoadOptions {
  // Stands before every name in the file: "model." finds weight 'fc.weight' as 'model.fc.weight'.
  std::string prefix = {};
  // The name in the file of a weight; after this, `prefix` is put before it.
  std::function<std::string(const std::string&)> rename = nullptr;
};

// What was done; all sorted by name.
struct LoadReport {
  std::vector<std::string> loaded;      // weights that now have data
  std::vector<std::string> cast;        // those of them whose dtype differs from the file's
  std::vector<std::string> unexpected;  // tensors of the file that no weight of the graph asked for
};

// A file that doesn't fit a graph; the message says it all.
class LUMINAL_API WeightsError : public UserError {
 public:
  WeightsError(const std::string& message, std::vector<std::string> missing);
  ~WeightsError() override;

  // Names of weights that the file hasn't got, as the file would have them.
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  std::vector<std::string> missing_;
};

// Binds every weight that has no data yet. Where dtypes match nothing is copied; otherwise the cast
// is deferred until the data is needed. Floats load as other floats, integers and bools as wider
// integers and as floats. WeightsError that lists every weight that is missing (with near names),
// has other dims or can't be cast; then no weight was changed.
//
// Where the file has a quantised tensor 'w', a weight "w.quants", "w.scales" or "w.offsets" is a
// plane of it, and a weight 'w' itself gets its values. Both are read when they are needed.
// `options` are about 'w'.
LUMINAL_API LoadReport load_weights(Graph& graph, std::shared_ptr<const WeightSource> source,
                                    const LoadOptions& options = {});
LUMINAL_API LoadReport load_weights(Graph& graph, const SafeTensors& source,
                                    const LoadOptions& options = {});
LUMINAL_API LoadReport load_weights(Graph& graph, const Gguf& source,
                                    const LoadOptions& options = {});

// How the file holds each weight, by the weight's name: what nn::Scope::with_formats() wants.
LUMINAL_API std::function<std::optional<BlockFormat>(const std::string&)> weight_formats(
    std::shared_ptr<const WeightSource> source, const LoadOptions& options = {});
LUMINAL_API std::function<std::optional<BlockFormat>(const std::string&)> weight_formats(
    const Gguf& source, const LoadOptions& options = {});

}  // namespace luminal
