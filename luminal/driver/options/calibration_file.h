// The calibration of this machine's cost model, kept beside its measured peaks as
// machine/FINGERPRINT.TARGET.calibration.json.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "luminal/driver/storage_options.h"
#include "luminal/machine/peaks.h"
#include "luminal/search/cost/calibration.h"

namespace luminal {

// A calibration with all that it holds for: factors are relative to peaks.
struct KeptCalibration {
  search::Calibration calibration;
  std::string processor;
  std::string target;  // an instruction set
  int threads = 1;
  std::string peaks;  // a digest of their figures

  // Why it says nothing about kernels that are modelled by `other`; empty if it does.
  std::string differs_from(const KeptCalibration& other) const;
};
KeptCalibration kept_calibration(search::Calibration calibration, const machine::Peaks& peaks,
                                 const std::string& target);

// Factors that are those of no calibration aren't written. The same calibration gives the same
// bytes.
std::string to_json(const KeptCalibration& kept);
// A UserError names the field that is missing or invalid; `source` names the text in messages.
KeptCalibration calibration_from_json(const std::string& json, const std::string& source);

// Empty if there is no cache folder. `target` as BackendOptions name it.
std::filesystem::path calibration_file(int threads, const std::string& target);
// UserError if the file can't be written.
void keep(const KeptCalibration& kept, const std::string& target);

struct FoundCalibration {
  std::shared_ptr<const search::Calibration> calibration;  // null: none
  std::string why_not;                                     // there is a file, but it can't be used
};
// For kernels that are modelled by these peaks. None without a cache folder. Of the machine that
// StorageOptions::machine describes in NAME.json, that in NAME.calibration.json, if it is there.
FoundCalibration find_calibration(const StorageOptions& storage, const machine::Peaks& peaks,
                                  const std::string& target);

// "calibrated by 162 kernels: off by 1.12 times (median), rank correlation 0.98", on kernels that
// were held out; why a calibration isn't used; empty without one.
std::string text(const FoundCalibration& found);

}  // namespace luminal
