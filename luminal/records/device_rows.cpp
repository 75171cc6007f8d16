#include "luminal/records/device_rows.h"

#include "luminal/base/check.h"
#include "luminal/records/row_key.h"

namespace luminal::records {

Outcome put_device(Connection& db, const Device& device) {
  const std::string why_not = why_refused(device);
  LUMINAL_CHECK(why_not.empty(), "an invalid device can't be recorded: " + why_not);
  // The greater text of peaks stays. The date precedes the figures, so it is the newer one, and
  // the order of merging files makes no difference.
  Query query(db,
              "INSERT INTO devices(fingerprint, description, peaks) VALUES(?1, ?2, ?3) ON CONFLICT "
              "DO UPDATE SET description = excluded.description, peaks = max(peaks, "
              "excluded.peaks) WHERE description IS NOT excluded.description OR excluded.peaks > "
              "peaks");
  query.text(device.fingerprint).blob(device.description).blob(device.peaks).run();
  return db.changed() > 0 ? Outcome::Added : Outcome::Kept;
}

void each_device(Connection& db, const std::function<void(Device&&)>& use,
                 const std::function<void(Refusal&&)>& refuse) {
  Query row(db, "SELECT fingerprint, description, peaks FROM devices ORDER BY fingerprint");
  while (row.step()) {
    Device device{.fingerprint = row.bytes(0), .description = row.bytes(1), .peaks = row.bytes(2)};
    std::string why = why_refused(device);
    if (why.empty()) {
      use(std::move(device));
    } else {
      refuse({row_name("device", device.fingerprint), std::move(why)});
    }
  }
}

}  // namespace luminal::records
