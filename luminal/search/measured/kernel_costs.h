// KernelCosts: times of kernels, measured where known, else by the model, corrected by its error on
// measured kernels of the same kind.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "luminal/search/cuts/find_plan.h"
#include "luminal/search/terms/weight_facts.h"

namespace luminal::search {

class KernelCosts : public KnownCosts {
 public:
  KernelCosts(const MachineModel& machine, const Bindings& sizes, WeightFacts weights)
      : machine_(machine), sizes_(sizes), weights_(std::move(weights)) {}

  // Everything that a kernel's time depends on besides machine and compiler: its text, the sizes,
  // which parameters are weights, and its strategy and schedule.
  std::string key(const kernel::LoweredKernel& lowered, const kernel::StepChoice& choice) const;
  // That of the default strategy and schedule.
  std::string key(const kernel::LoweredKernel& lowered) const;
  // Whether it runs once, when weights are set, and so costs a run nothing.
  bool runs_once(const kernel::LoweredKernel& lowered) const {
    return weights_.runs_once(lowered, sizes_);
  }

  double seconds(const kernel::LoweredKernel& lowered) const override;
  bool knows(const std::string& key) const { return measured_.contains(key); }
  double measured(const std::string& key) const { return measured_.at(key); }
  int n_measured() const { return static_cast<int>(measured_.size()); }

  // Keeps a measured time under `key`, and corrects the model by it. seconds() only looks up keys
  // of the default.
  void learn(const kernel::LoweredKernel& lowered, const std::string& key, double seconds);
  // Optimism about kernels that weren't measured: with a factor below 1, the search tries more of
  // them.
  void set_hope(double factor) { hope_ = factor; }

 private:
  // The model's error is about the same for all GEMMs, and for all other kernels. The upper
  // quartile is used: a kernel that only seems to be fast costs a trial.
  struct Kind {
    std::vector<double> ratios;  // of measured to modelled times, sorted
    double factor() const { return ratios.empty() ? 1 : ratios[ratios.size() * 3 / 4]; }
  };
  static size_t kind_of(const kernel::Kernel& kernel);

  MachineModel machine_;
  Bindings sizes_;
  WeightFacts weights_;
  std::unordered_map<std::string, double> measured_;
  Kind kinds_[2];
  double hope_ = 1;
};

}  // namespace luminal::search
