#include "apps/bench/networks/networks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/bench/networks/builders.h"
#include "luminal/base/errors.h"

namespace luminal {

const std::vector<Network>& networks() {
  static const std::vector<Network> list = {
      {"bert-base", bench::bert_base},
      {"resnext-50", bench::resnext_50},
      {"nasnet-a", bench::nasnet_a},
      {"nasrnn", bench::nasrnn},
      {"inception-v3", bench::inception_v3},
      {"squeezenet", bench::squeezenet},
      {"vgg-19", bench::vgg_19},
  };
  return list;
}

const Network& network(const std::string& name) {
  std::vector<std::string> names;
  for (const Network& known : networks()) {
    if (known.name == name) return known;
    names.push_back(known.name);
  }
  throw UserError(
      fmt::format("there is no network '{}'; there are: {}", name, fmt::join(names, ", ")));
}

}  // namespace luminal
