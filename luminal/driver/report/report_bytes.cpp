#include "luminal/driver/report/report_bytes.h"

#include <concepts>
#include <type_traits>
#include <utility>

#include "luminal/driver/report/report_fields.h"

namespace luminal {
namespace {

using base::ByteError;
using base::ByteReader;
using base::ByteWriter;

template <typename T>
void write_from(ByteWriter& out, const std::vector<T>& list, size_t first);

template <typename T>
void write_kept(ByteWriter& out, const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    out.text(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    out.flag(value);
  } else if constexpr (std::is_same_v<T, double>) {
    out.real(value);
  } else if constexpr (std::unsigned_integral<T>) {
    out.number(value);
  } else if constexpr (std::signed_integral<T>) {
    out.integer(value);
  } else if constexpr (kIsList<T>) {
    write_from(out, value, 0);
  } else {
    for_each_field<T>([&]<typename Field>(const Field& field) {
      if constexpr (Field::in_bytes) write_kept(out, value.*field.member);
    });
  }
}

// The items from `first` on.
template <typename T>
void write_from(ByteWriter& out, const std::vector<T>& list, size_t first) {
  out.number(list.size() - first);
  for (size_t i = first; i < list.size(); ++i) write_kept(out, list[i]);
}

template <std::integral To, std::integral From>
To fitting(From value) {
  if (!std::in_range<To>(value)) throw ByteError("an integer is out of range");
  return static_cast<To>(value);
}

// Lists grow by what is read; every other value is replaced.
template <typename T>
void read_kept(ByteReader& in, T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    value = in.text();
  } else if constexpr (std::is_same_v<T, bool>) {
    value = in.flag();
  } else if constexpr (std::is_same_v<T, double>) {
    value = in.real();
  } else if constexpr (std::unsigned_integral<T>) {
    value = fitting<T>(in.number());
  } else if constexpr (std::signed_integral<T>) {
    value = fitting<T>(in.integer());
  } else if constexpr (kIsList<T>) {
    for (size_t left = in.count(); left > 0; --left) read_kept(in, value.emplace_back());
  } else {
    for_each_field<T>([&]<typename Field>(const Field& field) {
      if constexpr (Field::in_bytes) read_kept(in, value.*field.member);
    });
  }
}

// Calls `visit` with each list of a report.
template <typename Report, typename Visit>
void for_each_list(Report& report, Visit visit) {
  for_each_field<CompileReport>([&](const auto& field) {
    auto& value = report.*field.member;
    if constexpr (kIsList<std::remove_cvref_t<decltype(value)>>) visit(value);
  });
}

}  // namespace

ReportMark::ReportMark(const CompileReport& report) {
  for_each_list(report, [&](const auto& list) { sizes_.push_back(list.size()); });
}

void ReportMark::forget_since(CompileReport& report) const {
  auto size = sizes_.begin();
  for_each_list(report, [&](auto& list) { list.resize(*size++); });
}

void write_report(ByteWriter& out, const CompileReport& report, const ReportMark& mark) {
  auto size = mark.sizes_.begin();
  for_each_field<CompileReport>([&]<typename Field>(const Field& field) {
    const auto& value = report.*field.member;
    constexpr bool is_list = kIsList<std::remove_cvref_t<decltype(value)>>;
    if constexpr (Field::in_bytes && is_list) {
      write_from(out, value, *size);
    } else if constexpr (Field::in_bytes) {
      write_kept(out, value);
    }
    size += is_list;
  });
}

void read_report(ByteReader& in, CompileReport& report) { read_kept(in, report); }

}  // namespace luminal
