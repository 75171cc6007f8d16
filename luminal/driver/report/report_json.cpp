#include "luminal/driver/report/report_json.h"

namespace luminal {

std::string CompileReport::json() const {
  base::JsonText json;
  json.begin_object();
  write_fields(json, *this);
  json.end_object();
  return json.text() + "\n";
}

}  // namespace luminal
