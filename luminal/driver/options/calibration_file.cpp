#include "luminal/driver/options/calibration_file.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "luminal/base/digest.h"
#include "luminal/base/errors.h"
#include "luminal/base/files/replace_file.h"
#include "luminal/base/os/own_file.h"
#include "luminal/base/text/json_text.h"
#include "luminal/machine/kept_peaks.h"

namespace luminal {
namespace {

using search::Calibration;
using search::CostPart;
using search::KernelKind;
using search::KindFactors;
using search::ModelError;

constexpr int kCalibrationFormat = 1;
constexpr uint64_t kMostCalibrationBytes = 256 << 10;
// A factor beyond these was not fitted.
constexpr double kLeastFactor = 1e-3, kMostFactor = 1e3;
constexpr size_t kPeaksDigits = 16;

// Of the figures alone: not of when they were measured.
std::string digest_of(machine::Peaks peaks) {
  peaks.source.clear();
  peaks.others = 0;
  return base::digest(to_json(peaks)).substr(0, kPeaksDigits);
}

void write(base::JsonText& json, const char* name, const ModelError& error) {
  json.key(name);
  json.begin_object(base::JsonText::Layout::OnOneLine);
  json.field("kernels", error.kernels);
  json.field("median_ratio", error.median_ratio);
  json.field("rank_correlation", error.rank_correlation);
  json.end_object();
}

class CalibrationReader {
 public:
  explicit CalibrationReader(const std::string& source) : source_(source) {}

  [[noreturn]] void refuse(const std::string& why) const {
    throw UserError(
        fmt::format("'{}' holds no calibration of the cost model: {}; `luminal tune calibrate` "
                    "writes them",
                    source_, why));
  }
  const nlohmann::json& field(const nlohmann::json& object, const char* name) const {
    if (!object.is_object() || !object.contains(name)) {
      refuse(fmt::format("'{}' is missing", name));
    }
    return object[name];
  }
  std::string word(const nlohmann::json& object, const char* name) const {
    const nlohmann::json& value = field(object, name);
    if (!value.is_string()) refuse(fmt::format("'{}' isn't a string", name));
    return value.get<std::string>();
  }
  double number(const nlohmann::json& value, std::string_view name, double least,
                double most) const {
    const double number = value.is_number() ? value.get<double>() : std::nan("");
    if (!(number >= least && number <= most)) {
      refuse(fmt::format("'{}' isn't a number from {} to {}", name, least, most));
    }
    return number;
  }
  int count(const nlohmann::json& object, const char* name) const {
    return static_cast<int>(number(field(object, name), name, 0, 1e9));
  }
  ModelError error(const nlohmann::json& object, const char* name) const {
    const nlohmann::json& of = field(object, name);
    return {.kernels = count(of, "kernels"),
            .median_ratio = number(field(of, "median_ratio"), "median_ratio", 1, 1e9),
            .rank_correlation = number(field(of, "rank_correlation"), "rank_correlation", -1, 1)};
  }
  KindFactors kind(const nlohmann::json& object, KindFactors kind) const {
    kind.samples = count(object, "kernels");
    for (size_t p = 0; p < search::kCostParts; ++p) {
      const std::string_view part = name(static_cast<CostPart>(p));
      const auto found = object.find(part);
      if (found != object.end()) kind.factors[p] = number(*found, part, kLeastFactor, kMostFactor);
    }
    if (const auto found = object.find("waiting"); found != object.end()) {
      kind.waiting = number(*found, "waiting", 0, 1);
    }
    return kind;
  }

 private:
  const std::string& source_;
};

}  // namespace

KeptCalibration kept_calibration(Calibration calibration, const machine::Peaks& peaks,
                                 const std::string& target) {
  return {.calibration = calibration,
          .processor = peaks.processor,
          .target = std::string(machine::instruction_set_of(target)),
          .threads = peaks.threads,
          .peaks = digest_of(peaks)};
}

std::string KeptCalibration::differs_from(const KeptCalibration& other) const {
  if (processor != other.processor) return fmt::format("it is of another processor, {}", processor);
  if (threads != other.threads) return fmt::format("it is of {} threads", threads);
  if (target != other.target) return fmt::format("it is of the instruction set {}", target);
  return peaks == other.peaks ? "" : "the machine's peaks have been measured again since";
}

std::string to_json(const KeptCalibration& kept) {
  const Calibration& calibration = kept.calibration;
  base::JsonText json;
  json.begin_object();
  json.field("format", kCalibrationFormat);
  json.field("processor", kept.processor);
  json.field("target", kept.target);
  json.field("threads", kept.threads);
  json.field("peaks", kept.peaks);
  json.field("kernels", calibration.samples);
  write(json, "held_out_before", calibration.before);
  write(json, "held_out", calibration.after);
  json.key("kinds");
  json.begin_object();
  for (size_t k = 0; k < search::kKernelKinds; ++k) {
    const KindFactors& kind = calibration.kinds[k];
    const KindFactors& usual = search::no_calibration().kinds[k];
    json.key(name(static_cast<KernelKind>(k)));
    json.begin_object(base::JsonText::Layout::OnOneLine);
    json.field("kernels", kind.samples);
    for (size_t p = 0; p < search::kCostParts; ++p) {
      if (kind.factors[p] == usual.factors[p]) continue;
      json.field(name(static_cast<CostPart>(p)), kind.factors[p]);
    }
    if (kind.waiting != usual.waiting) json.field("waiting", kind.waiting);
    json.end_object();
  }
  json.end_object();
  json.end_object();
  return json.text() + "\n";
}

KeptCalibration calibration_from_json(const std::string& json, const std::string& source) {
  const nlohmann::json parsed = nlohmann::json::parse(json, nullptr, false);
  const CalibrationReader reader(source);
  if (!parsed.is_object()) reader.refuse("it isn't a JSON object");
  if (reader.count(parsed, "format") != kCalibrationFormat) reader.refuse("it has another format");
  KeptCalibration kept{.calibration = search::no_calibration(),
                       .processor = reader.word(parsed, "processor"),
                       .target = reader.word(parsed, "target"),
                       .threads = reader.count(parsed, "threads"),
                       .peaks = reader.word(parsed, "peaks")};
  Calibration& calibration = kept.calibration;
  calibration.samples = reader.count(parsed, "kernels");
  calibration.before = reader.error(parsed, "held_out_before");
  calibration.after = reader.error(parsed, "held_out");
  const nlohmann::json& kinds = reader.field(parsed, "kinds");
  for (size_t k = 0; k < search::kKernelKinds; ++k) {
    const std::string kind(name(static_cast<KernelKind>(k)));
    calibration.kinds[k] = reader.kind(reader.field(kinds, kind.c_str()), calibration.kinds[k]);
  }
  return kept;
}

std::filesystem::path calibration_file(int threads, const std::string& target) {
  const std::filesystem::path peaks = machine::peaks_file(threads);
  if (peaks.empty()) return {};
  return peaks.parent_path() / fmt::format("{}.{}.calibration.json", peaks.stem().string(),
                                           machine::instruction_set_of(target));
}

void keep(const KeptCalibration& kept, const std::string& target) {
  const std::filesystem::path file = calibration_file(kept.threads, target);
  const auto refuse = [&](const std::string& why) {
    throw UserError(fmt::format("the cost model's calibration can't be saved in '{}': {}",
                                file.parent_path().string(), why));
  };
  if (file.empty()) refuse("there is no cache folder; set XDG_CACHE_HOME");
  if (!base::make_private_folder(file.parent_path())) refuse("the folder can't be made");
  // Owner only: reading rejects a file that others may write to.
  if (!base::replace_file(file, to_json(kept), base::FileReaders::Owner)) {
    refuse("it can't be written");
  }
}

namespace {

std::filesystem::path file_for(const StorageOptions& storage, const machine::Peaks& peaks,
                               const std::string& target) {
  if (peaks.origin == machine::PeaksOrigin::Given) {
    return std::filesystem::path(storage.machine).replace_extension(".calibration.json");
  }
  return storage.cache_folder == "none" ? "" : calibration_file(peaks.threads, target);
}

}  // namespace

FoundCalibration find_calibration(const StorageOptions& storage, const machine::Peaks& peaks,
                                  const std::string& target) {
  const std::filesystem::path file = file_for(storage, peaks, target);
  if (file.empty()) return {};
  const base::OwnFile read = base::read_own_file(file, kMostCalibrationBytes);
  const auto unusable = [&](const std::string& why) {
    return FoundCalibration{.calibration = nullptr, .why_not = why};
  };
  switch (read.state) {
    case base::OwnFile::State::Absent:
      return {};
    case base::OwnFile::State::NotOwn:
      return unusable(fmt::format("others could have written '{}'", file.string()));
    case base::OwnFile::State::Refused:
      return unusable(fmt::format("'{}' can't be read", file.string()));
    case base::OwnFile::State::Read:
      break;
  }
  try {
    const KeptCalibration kept = calibration_from_json(read.bytes, file.string());
    const std::string differs = kept.differs_from(kept_calibration({}, peaks, target));
    if (!differs.empty()) return unusable(differs);
    return {.calibration = std::make_shared<const Calibration>(kept.calibration), .why_not = ""};
  } catch (const UserError& error) {
    return unusable(error.what());
  }
}

std::string text(const FoundCalibration& found) {
  if (!found.why_not.empty()) {
    return fmt::format("its calibration isn't used: {}", found.why_not);
  }
  if (found.calibration == nullptr) return "";
  const ModelError& error = found.calibration->after;
  return fmt::format(
      "calibrated by {} kernels: off by {:.2f} times (median), rank correlation {:.3f}",
      found.calibration->samples, error.median_ratio, error.rank_correlation);
}

}  // namespace luminal
