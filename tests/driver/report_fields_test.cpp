// Reports whose every member is set: what their tables say is what JSON, bytes and text hold.
#include "luminal/driver/report/report_fields.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/driver/report/report_bytes.h"
#include "luminal/driver/report/report_json.h"

namespace luminal {
namespace {

using testing::HasSubstr;

// Sets all that is written, each value to another one.
class Filler {
 public:
  template <typename T>
  void fill(T& value) {
    ++n_;
    if constexpr (std::is_same_v<T, std::string>) {
      value = fmt::format("text {}", n_);
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      value = {fmt::format("first {}", n_), fmt::format("second {}", n_)};
    } else if constexpr (ReportList<T>) {
      fill(value.emplace_back());
      fill(value.emplace_back());
    } else if constexpr (std::is_same_v<T, bool>) {
      value = true;
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = static_cast<T>(n_ * 1.5);
    } else {
      for_each_field<T>([&]<typename Field>(const Field& field) {
        if constexpr (Field::in_json) fill(value.*field.member);
      });
    }
  }

 private:
  int n_ = 0;
};

CompileReport filled() {
  CompileReport report;
  Filler().fill(report);
  return report;
}

// The same without what isn't kept beside a plan.
template <typename Report>
Report kept_of(const Report& from) {
  Report kept;
  for_each_field<Report>([&]<typename Field>(const Field& field) {
    using Value = std::remove_cvref_t<decltype(from.*field.member)>;
    if constexpr (Field::in_bytes && ReportList<Value>) {
      for (const auto& report : from.*field.member) {
        (kept.*field.member).push_back(kept_of(report));
      }
    } else if constexpr (Field::in_bytes) {
      kept.*field.member = from.*field.member;
    }
  });
  return kept;
}

std::string bytes_of(const CompileReport& report, const CompileReport& before) {
  base::ByteWriter out;
  write_report(out, report, ReportMark(before));
  return out.bytes();
}

void add(const std::string& bytes, CompileReport& report) {
  base::ByteReader in(bytes);
  read_report(in, report);
  in.finish();
}

TEST(ReportFields, JsonHasEachNameInOrder) {
  const KernelReport kernel = filled().kernels.at(0);
  base::JsonText json;
  write_report_object(json, kernel);
  size_t at = 0;
  for_each_field<KernelReport>([&]<typename Field>(const Field& field) {
    const std::string key = fmt::format("\"{}\": ", field.name);
    const size_t found = json.text().find(key, at);
    EXPECT_EQ(found != std::string::npos, Field::in_json) << field.name;
    if (Field::in_json) at = found;
  });
  EXPECT_THAT(json.text(), testing::StartsWith("{\"name\": "));
  EXPECT_STREQ(field_name(&RuleGrowth::numeric_class), "class");
}

TEST(ReportFields, BytesHoldWhatIsKeptAndNothingElse) {
  const CompileReport report = filled();
  CompileReport read;
  add(bytes_of(report, CompileReport()), read);
  EXPECT_EQ(read.json(), kept_of(report).json());
  EXPECT_EQ(read.kernels.at(1).rivals.at(1).why, report.kernels.at(1).rivals.at(1).why);
  EXPECT_EQ(read.kernels.at(1).text, "");  // the plan has it
}

TEST(ReportFields, BytesHoldWhatWasAddedSinceAMark) {
  const CompileReport before = filled();
  const ReportMark mark(before);
  CompileReport report = before;
  report.kernels.emplace_back().name = "added";
  report.notes.push_back("a note");
  report.stages.emplace_back();
  CompileReport again = before;
  add(bytes_of(report, before), again);
  report.stages.pop_back();
  EXPECT_EQ(again.json(), report.json());
  mark.forget_since(again);
  EXPECT_EQ(again.json(), before.json());
}

TEST(ReportFields, BytesThatEndEarlyAreRefused) {
  const std::string bytes = bytes_of(filled(), CompileReport());
  for (size_t n = 0; n < bytes.size(); ++n) {
    CompileReport read;
    EXPECT_THROW(add(bytes.substr(0, n), read), base::ByteError) << n;
  }
}

TEST(ReportFields, LinesOfTheTextLeaveOutWhatIsEmpty) {
  CompileReport report;
  report.target = "avx2";
  KernelReport& kernel = report.kernels.emplace_back();
  kernel.rules = {"a", "b"};
  kernel.slow_paths = {"c", "d"};
  const std::string text = report.text();
  EXPECT_THAT(text, HasSubstr("\ntarget: avx2\n"));
  EXPECT_THAT(text, HasSubstr("\n    rules: a, b\n    slow: c\n    slow: d\n"));
  for (const char* absent : {"machine:", "ops:", "not by the library:"}) {
    EXPECT_THAT(text, testing::Not(HasSubstr(absent)));
  }
}

}  // namespace
}  // namespace luminal
