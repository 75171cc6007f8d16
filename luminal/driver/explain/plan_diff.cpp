#include "luminal/driver/explain/plan_diff.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "luminal/base/errors.h"
#include "luminal/driver/explain/explanation.h"

namespace luminal {
namespace {

using Kernels = std::vector<const KernelReport*>;

// Times of one kernel that differ by less are the same.
constexpr double kNoise = 0.01;

Kernels kernels_of(const CompileReport& report, const PlanReport* plan) {
  Kernels kernels;
  if (plan == nullptr) return kernels;
  for (size_t k = plan->first_kernel; k < plan->first_kernel + plan->n_kernels; ++k) {
    if (!report.kernels[k].packs) kernels.push_back(&report.kernels[k]);
  }
  return kernels;
}

double total(const Kernels& kernels) {
  double us = 0;
  for (const KernelReport* kernel : kernels) us += time_of(*kernel).us;
  return us;
}

bool all_measured(const Kernels& kernels) {
  return !kernels.empty() && std::all_of(kernels.begin(), kernels.end(), [](const auto* kernel) {
    return time_of(*kernel).measured;
  });
}

// Removes the kernels that both have, pair by pair.
void take_same(Kernels& a, Kernels& b, DiffedPlan& plan) {
  std::multimap<std::string, const KernelReport*> texts;
  for (const KernelReport* kernel : b) texts.emplace(kernel->text + kernel->library, kernel);
  std::set<const KernelReport*> taken;
  for (const KernelReport* kernel : a) {
    const auto found = texts.find(kernel->text + kernel->library);
    if (found == texts.end()) continue;
    const KernelReport* other = found->second;
    texts.erase(found);
    taken.insert({kernel, other});
    ++plan.n_same;
    const double before = time_of(*kernel).us, after = time_of(*other).us;
    plan.same_us += before;
    if (std::abs(after - before) > kNoise * before) {
      plan.regions.push_back({{kernel}, {other}, 1, before, after, true});
    }
  }
  const auto is_taken = [&](const KernelReport* kernel) { return taken.contains(kernel); };
  std::erase_if(a, is_taken);
  std::erase_if(b, is_taken);
}

// Groups kernels of both sides that compute a common node.
class Regions {
 public:
  Regions(const Kernels& a, const Kernels& b, bool by_nodes) : n_a_(a.size()), all_(a) {
    all_.insert(all_.end(), b.begin(), b.end());
    parent_.resize(all_.size());
    std::iota(parent_.begin(), parent_.end(), size_t{0});
    std::map<std::string, size_t> first;
    for (size_t k = 0; by_nodes && k < all_.size(); ++k) {
      for (const std::string& node : all_[k]->nodes) {
        parent_[find(k)] = find(first.emplace(node, k).first->second);
      }
    }
  }

  std::vector<DiffedRegion> list() {
    std::map<size_t, DiffedRegion> regions;
    for (size_t k = 0; k < all_.size(); ++k) {
      DiffedRegion& region = regions[find(k)];
      (k < n_a_ ? region.a : region.b).push_back(all_[k]);
    }
    std::vector<DiffedRegion> result;
    for (auto& [root, region] : regions) {
      region.a_us = total(region.a);
      region.b_us = total(region.b);
      result.push_back(std::move(region));
    }
    return result;
  }

 private:
  size_t find(size_t k) {
    while (parent_[k] != k) k = parent_[k] = parent_[parent_[k]];
    return k;
  }

  size_t n_a_;
  Kernels all_;
  std::vector<size_t> parent_;
};

// Merges equal regions, such as those of layers, into one with a count.
std::vector<DiffedRegion> counted(const std::vector<DiffedRegion>& regions) {
  std::vector<DiffedRegion> result;
  std::map<std::tuple<std::string, double, double>, size_t> known;
  for (const DiffedRegion& region : regions) {
    std::string key = region.same ? "same" : "";
    for (const KernelReport* kernel : region.a) key += "a " + kernel->text;
    for (const KernelReport* kernel : region.b) key += "b " + kernel->text;
    const auto [at, is_new] =
        known.emplace(std::make_tuple(key, region.a_us, region.b_us), result.size());
    if (is_new) {
      result.push_back(region);
    } else {
      ++result[at->second].count;
    }
  }
  return result;
}

// Values that only a's kernels store.
std::vector<const StoredReport*> stored_alone(const CompileReport& a, const Kernels& of_a,
                                              const CompileReport& b, const Kernels& of_b) {
  const auto names = [](const Kernels& kernels) {
    std::set<std::string> result;
    for (const KernelReport* kernel : kernels) result.insert(kernel->name);
    return result;
  };
  const std::set<std::string> kernels_a = names(of_a), kernels_b = names(of_b);
  std::set<std::pair<std::string, std::string>> others;
  for (const StoredReport& value : b.stored) {
    if (kernels_b.contains(value.kernel)) others.emplace(value.value, value.type);
  }
  std::vector<const StoredReport*> alone;
  for (const StoredReport& value : a.stored) {
    const bool there = others.contains({value.value, value.type});
    if (kernels_a.contains(value.kernel) && !there) alone.push_back(&value);
  }
  return alone;
}

DiffedPlan diffed(const CompileReport& a, const PlanReport* plan_a, const CompileReport& b,
                  const PlanReport* plan_b, bool by_nodes) {
  DiffedPlan plan;
  plan.a = plan_a;
  plan.b = plan_b;
  Kernels kernels_a = kernels_of(a, plan_a), kernels_b = kernels_of(b, plan_b);
  plan.a_kernels = kernels_a.size();
  plan.b_kernels = kernels_b.size();
  plan.a_us = total(kernels_a);
  plan.b_us = total(kernels_b);
  plan.a_measured = all_measured(kernels_a);
  plan.b_measured = all_measured(kernels_b);
  plan.stored_in_a = stored_alone(a, kernels_a, b, kernels_b);
  plan.stored_in_b = stored_alone(b, kernels_b, a, kernels_a);
  take_same(kernels_a, kernels_b, plan);
  for (DiffedRegion& region : Regions(kernels_a, kernels_b, by_nodes).list()) {
    plan.regions.push_back(std::move(region));
  }
  plan.regions = counted(plan.regions);
  const auto rank = [](const DiffedRegion& region) {
    const KernelReport* first = region.a.empty() ? region.b.front() : region.a.front();
    return std::make_tuple(-std::abs(region.difference()), region.a.empty(), first);
  };
  // Kernels of one report lie in one array, so that their addresses have the order of the plan.
  std::sort(plan.regions.begin(), plan.regions.end(),
            [&](const auto& one, const auto& other) { return rank(one) < rank(other); });
  return plan;
}

const PlanReport* plan_for(const CompileReport& report, const std::string& variant) {
  for (const PlanReport& plan : report.plans) {
    if (plan.variant == variant) return &plan;
  }
  return nullptr;
}

}  // namespace

PlanDiff diff_plans(const CompileReport& a, std::string a_name, const CompileReport& b,
                    std::string b_name) {
  for (const auto& [report, name] : {std::pair(&a, &a_name), std::pair(&b, &b_name)}) {
    if (report->plans.empty()) {
      throw UserError("'" + *name +
                      "' has no plan to compare: the backend runs the graph as it is, or the "
                      "report is of an older version; compile it with the backend 'cpu'");
    }
  }
  PlanDiff diff{std::move(a_name),
                std::move(b_name),
                a.target,
                b.target,
                !a.graph.empty() && a.graph == b.graph,
                {}};
  if (a.plans.size() == 1 && b.plans.size() == 1) {
    diff.plans.push_back(diffed(a, &a.plans.front(), b, &b.plans.front(), diff.same_graph));
    return diff;
  }
  for (const PlanReport& plan : a.plans) {
    diff.plans.push_back(diffed(a, &plan, b, plan_for(b, plan.variant), diff.same_graph));
  }
  for (const PlanReport& plan : b.plans) {
    if (plan_for(a, plan.variant) != nullptr) continue;
    diff.plans.push_back(diffed(a, nullptr, b, &plan, diff.same_graph));
  }
  return diff;
}

}  // namespace luminal
