#include "luminal/records/text_rows.h"

#include "luminal/base/digest.h"

namespace luminal::records {
namespace {

bool has_text(Connection& db, const std::string& digest, std::string_view content) {
  Query query(db, "SELECT content = ? FROM texts WHERE digest = ?");
  query.blob(content).text(digest);
  return query.step() && query.integer_at(0) == 1;
}

}  // namespace

void store_text(Connection& db, const std::string& digest, std::string_view content) {
  Query query(db,
              "INSERT INTO texts(digest, content) VALUES(?1, ?2) ON CONFLICT(digest) DO UPDATE SET "
              "content = excluded.content WHERE content IS NOT excluded.content");
  query.text(digest).blob(content).run();
}

std::optional<std::string> find_text(Connection& db, const std::string& digest) {
  Query query(db, "SELECT content FROM texts WHERE digest = ?");
  query.text(digest);
  if (!query.step()) return std::nullopt;
  std::string content = query.bytes(0);
  if (base::digest(content) != digest) return std::nullopt;
  return content;
}

bool has_texts(Connection& db, const RowKey& key, std::string_view subject, std::string_view device,
               std::string_view compiler) {
  return has_text(db, key.subject, subject) && has_text(db, key.device, device) &&
         has_text(db, key.compiler, compiler);
}

void remove_unused_texts(Connection& db) {
  Query query(db,
              "DELETE FROM texts WHERE digest NOT IN ("
              "SELECT kernel FROM kernels UNION SELECT device FROM kernels UNION "
              "SELECT compiler FROM kernels UNION SELECT question FROM plans UNION "
              "SELECT device FROM plans UNION SELECT compiler FROM plans UNION "
              "SELECT plan FROM plans UNION SELECT question FROM comparisons UNION "
              "SELECT device FROM comparisons UNION SELECT compiler FROM comparisons)");
  query.run();
}

}  // namespace luminal::records
