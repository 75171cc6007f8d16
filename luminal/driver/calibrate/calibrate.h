// calibrate(): fits the cost model to this machine, by timing small kernels of all kinds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "luminal/driver/calibrate/calibration_cases.h"
#include "luminal/driver/compile.h"
#include "luminal/machine/peaks.h"
#include "luminal/search/cost/calibration.h"

namespace luminal {

struct CalibrateOptions {
  double seconds = 30;     // of timing; cases that don't fit are left out
  CompileOptions compile;  // its backend, and where peaks, kernels and records are
  std::function<void(int done, int total, const std::string& name)> progress;
};

// A case, or a recorded kernel, beside the model's time.
struct CalibratedKernel {
  std::string name;
  std::string kind;  // of its kernels
  double measured_seconds = 0;
  double before_seconds = 0;    // by the model without a calibration
  double held_out_seconds = 0;  // by a fit without this kernel
};

struct CalibrateResult {
  search::Calibration calibration;
  std::vector<CalibratedKernel> kernels;
  int from_records = 0;   // of them
  int planned_again = 0;  // cases of the second round
  int left_out = 0;       // cases that there was no time for
  double seconds = 0;
  double others = 0;  // load of other programs, in cores
};

// The case's kernels as the model of these options plans them, without a time.
search::CostSample plan_case(const CalibrationCase& of, const CompileOptions& options);
// The time of a run: the lower decile, since other programs can only make a run slower.
double time_case(const CalibrationCase& of, const CompileOptions& options);

// In two rounds: plans by the model without a calibration, then by the one fitted to these, where
// they are others. Otherwise kernels that only a calibrated model chooses would never be timed, and
// what it wrongly takes for fast would be chosen for good.
//
// Doesn't keep the result. Records that can't be read count as none.
CalibrateResult calibrate(const machine::Peaks& peaks, const CalibrateOptions& options);

}  // namespace luminal
