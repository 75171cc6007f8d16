// KernelCosts: what kernels take: as measured where they were, else by the model, corrected by what
// it was off by on others of their kind.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "luminal/search/cuts/find_plan.h"
#include "luminal/search/measured/weight_facts.h"

namespace luminal::search {

class KernelCosts : public KnownCosts {
 public:
  KernelCosts(const MachineModel& machine, const Bindings& sizes, WeightFacts weights)
      : machine_(machine), sizes_(sizes), weights_(std::move(weights)) {}

  // All that a kernel's time depends on, beside the machine and the compiler: its text, the sizes,
  // what of it are weights, and how it is to be run.
  std::string key(const kernel::LoweredKernel& lowered,
                  const kernel::ScheduleChoice& schedule = {}) const;
  // Whether it runs once, when weights are set: that costs a run nothing.
  bool runs_once(const kernel::LoweredKernel& lowered) const {
    return weights_.runs_once(lowered, sizes_);
  }

  double seconds(const kernel::LoweredKernel& lowered) const override;
  bool knows(const std::string& key) const { return measured_.contains(key); }
  double measured(const std::string& key) const { return measured_.at(key); }
  int n_measured() const { return static_cast<int>(measured_.size()); }

  // Kernels are known by their keys, of the schedule that is the backend's own.
  void learn(const kernel::LoweredKernel& lowered, const std::string& key, double seconds);
  // How much is expected of what wasn't measured: below 1, more is tried.
  void set_hope(double factor) { hope_ = factor; }

 private:
  // The model is off by about as much on all products of matrices, and on all other kernels. It is
  // taken to be off by more than on most: a kernel that only seems to be fast costs a trial.
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
