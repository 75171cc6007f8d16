#include "luminal/driver/report/report_bytes.h"

namespace luminal {
namespace {

using base::ByteReader;
using base::ByteWriter;

void write_texts(ByteWriter& out, const std::vector<std::string>& texts, size_t first = 0) {
  out.number(texts.size() - first);
  for (size_t i = first; i < texts.size(); ++i) out.text(texts[i]);
}

std::vector<std::string> read_texts(ByteReader& in) {
  std::vector<std::string> texts;
  for (size_t left = in.count(); left > 0; --left) texts.emplace_back(in.text());
  return texts;
}

void write_rule(ByteWriter& out, const RuleGrowth& rule) {
  for (const std::string* text : {&rule.rule, &rule.group, &rule.numeric_class}) out.text(*text);
  for (uint64_t number : {rule.matches, rule.new_nodes, rule.unions}) out.number(number);
}

RuleGrowth read_rule(ByteReader& in) {
  RuleGrowth rule;
  for (std::string* text : {&rule.rule, &rule.group, &rule.numeric_class}) *text = in.text();
  for (uint64_t* number : {&rule.matches, &rule.new_nodes, &rule.unions}) *number = in.number();
  return rule;
}

void write_rival(ByteWriter& out, const RivalReport& rival) {
  out.text(rival.value);
  out.real(rival.extra_us);
  out.text(rival.why);
}

RivalReport read_rival(ByteReader& in) {
  RivalReport rival;
  rival.value = in.text();
  rival.extra_us = in.real();
  rival.why = in.text();
  return rival;
}

void write_kernel(ByteWriter& out, const KernelReport& kernel) {
  out.text(kernel.name);
  out.text(kernel.title);
  out.flag(kernel.packs);
  write_texts(out, kernel.ops);
  write_texts(out, kernel.nodes);
  write_texts(out, kernel.rules);
  out.text(kernel.result);
  for (double figure :
       {kernel.model_us, kernel.model_bytes, kernel.model_flops, kernel.bytes_us, kernel.flops_us,
        kernel.launch_us, kernel.measured_us, kernel.measured_low_us, kernel.measured_high_us}) {
    out.real(figure);
  }
  out.text(kernel.schedule);
  out.number(kernel.rivals.size());
  for (const RivalReport& rival : kernel.rivals) write_rival(out, rival);
}

KernelReport read_kernel(ByteReader& in) {
  KernelReport kernel;
  kernel.name = in.text();
  kernel.title = in.text();
  kernel.packs = in.flag();
  kernel.ops = read_texts(in);
  kernel.nodes = read_texts(in);
  kernel.rules = read_texts(in);
  kernel.result = in.text();
  for (double* figure : {&kernel.model_us, &kernel.model_bytes, &kernel.model_flops,
                         &kernel.bytes_us, &kernel.flops_us, &kernel.launch_us, &kernel.measured_us,
                         &kernel.measured_low_us, &kernel.measured_high_us}) {
    *figure = in.real();
  }
  kernel.schedule = in.text();
  for (size_t left = in.count(); left > 0; --left) kernel.rivals.push_back(read_rival(in));
  return kernel;
}

void write_stored(ByteWriter& out, const StoredReport& stored) {
  out.text(stored.value);
  out.text(stored.type);
  out.text(stored.kernel);
  write_texts(out, stored.readers);
  out.text(stored.because);
  out.text(stored.why);
  out.real(stored.extra_us);
}

StoredReport read_stored(ByteReader& in) {
  StoredReport stored;
  stored.value = in.text();
  stored.type = in.text();
  stored.kernel = in.text();
  stored.readers = read_texts(in);
  stored.because = in.text();
  stored.why = in.text();
  stored.extra_us = in.real();
  return stored;
}

void write_search(ByteWriter& out, const SearchReport& search) {
  out.text(search.mode);
  for (double figure : {search.seconds, search.first_us, search.best_us, search.bound_us}) {
    out.real(figure);
  }
  for (int count : {search.candidates, search.timed, search.remembered, search.compared}) {
    out.integer(count);
  }
  out.text(search.stopped);
  write_texts(out, search.comparisons);
}

SearchReport read_search(ByteReader& in) {
  SearchReport search;
  search.mode = in.text();
  for (double* figure : {&search.seconds, &search.first_us, &search.best_us, &search.bound_us}) {
    *figure = in.real();
  }
  for (int* count : {&search.candidates, &search.timed, &search.remembered, &search.compared}) {
    *count = in.small();
  }
  search.stopped = in.text();
  search.comparisons = read_texts(in);
  return search;
}

template <typename T>
void write_since(ByteWriter& out, const std::vector<T>& list, size_t first,
                 void (*write)(ByteWriter&, const T&)) {
  out.number(list.size() - first);
  for (size_t i = first; i < list.size(); ++i) write(out, list[i]);
}

template <typename T>
void read_onto(ByteReader& in, std::vector<T>& list, T (*read)(ByteReader&)) {
  for (size_t left = in.count(); left > 0; --left) list.push_back(read(in));
}

}  // namespace

void ReportMark::forget_since(CompileReport& report) const {
  report.stages.resize(stages);
  report.rules.resize(rules);
  report.kernels.resize(kernels);
  report.stored.resize(stored);
  report.searches.resize(searches);
  report.notes.resize(notes);
}

void write_report(ByteWriter& out, const CompileReport& report, const ReportMark& mark) {
  write_since(out, report.rules, mark.rules, write_rule);
  write_since(out, report.kernels, mark.kernels, write_kernel);
  write_since(out, report.stored, mark.stored, write_stored);
  write_since(out, report.searches, mark.searches, write_search);
  write_texts(out, report.notes, mark.notes);
  out.number(report.egraph_nodes);
  out.number(report.egraph_classes);
  out.integer(report.search_candidates);
  out.integer(report.search_kernels);
  out.integer(report.search_bits);
  out.real(report.model_us);
}

void read_report(ByteReader& in, CompileReport& report) {
  read_onto(in, report.rules, read_rule);
  read_onto(in, report.kernels, read_kernel);
  read_onto(in, report.stored, read_stored);
  read_onto(in, report.searches, read_search);
  for (std::string& note : read_texts(in)) report.notes.push_back(std::move(note));
  report.egraph_nodes = in.number();
  report.egraph_classes = in.number();
  report.search_candidates = in.small();
  report.search_kernels = in.small();
  report.search_bits = in.small();
  report.model_us = in.real();
}

}  // namespace luminal
