#include "luminal/records/stats.h"

#include <fmt/format.h>

#include <map>

#include "luminal/records/device_rows.h"
#include "luminal/records/kernel_rows.h"
#include "luminal/records/plan_rows.h"
#include "luminal/records/schema.h"

namespace luminal::records {
namespace {

using Shares = std::map<std::string, Stats::Share>;

Stats::Share& share_of(Shares& shares, const std::string& name) {
  Stats::Share& share = shares[name];
  share.name = name;
  return share;
}

std::vector<Stats::Share> listed(Shares&& shares) {
  std::vector<Stats::Share> list;
  for (auto& [name, share] : shares) list.push_back(std::move(share));
  return list;
}

}  // namespace

void scan_table(std::string_view table, const std::function<void()>& scan,
                const std::function<void(Refusal&&)>& refuse) {
  try {
    scan();
  } catch (const DatabaseError& error) {
    if (!error.is_damage()) throw;
    refuse({fmt::format("the table '{}'", table), error.what()});
  }
}

Stats count_rows(Connection& db) {
  Stats stats{.version = kSchemaVersion};
  Shares devices, compilers;
  const auto refuse = [&](Refusal&& refusal) {
    ++stats.damaged;
    if (stats.damage.size() < kMostRefusals) stats.damage.push_back(std::move(refusal));
  };
  const auto count_kernel = [&](KernelEntry&& entry, int64_t) {
    ++stats.kernels;
    ++share_of(devices, entry.key.device).kernels;
    ++share_of(compilers, entry.key.compiler).kernels;
  };
  const auto count_plan = [&](PlanEntry&& entry, int64_t) {
    const auto comparisons = static_cast<int64_t>(entry.comparisons.size());
    stats.plans += entry.champion.has_value();
    stats.comparisons += comparisons;
    for (Stats::Share* share :
         {&share_of(devices, entry.key.device), &share_of(compilers, entry.key.compiler)}) {
      share->plans += entry.champion.has_value();
      share->comparisons += comparisons;
    }
  };
  const auto describe = [&](Device&& device) {
    share_of(devices, device.fingerprint).description = std::move(device.description);
  };
  scan_table("kernels", [&] { each_kernel(db, count_kernel, refuse); }, refuse);
  scan_table("plans", [&] { each_plan(db, count_plan, refuse); }, refuse);
  scan_table("devices", [&] { each_device(db, describe, refuse); }, refuse);
  stats.devices = listed(std::move(devices));
  stats.compilers = listed(std::move(compilers));
  return stats;
}

}  // namespace luminal::records
