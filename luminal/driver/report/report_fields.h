// The fields of every report, listed once. From these tables come JSON (report_json.h), the bytes
// kept beside a plan (report_bytes.cpp), saved reports read back (apps/cli/files/report_file.cpp),
// and the lines "label: value" of the text. The sentences of the text (report.cpp,
// report_fusion.cpp) are written by hand, and so is what explanations and `luminal view` select.
//
// A new member of a report needs a row here and nothing else; without it this doesn't compile.
#pragma once

#include "luminal/driver/report.h"
#include "luminal/driver/report/report_field.h"

namespace luminal {

template <>
inline constexpr auto kReportFields<StageReport> = std::tuple{
    json_and_bytes("name", &StageReport::name),
    json_and_bytes("seconds", &StageReport::seconds),
    json_and_bytes("summary", &StageReport::summary),
    not_written("rotation", &StageReport::rotation),
};

template <>
inline constexpr auto kReportFields<RuleGrowth> = std::tuple{
    json_and_bytes("rule", &RuleGrowth::rule),
    json_and_bytes("group", &RuleGrowth::group),
    json_and_bytes("class", &RuleGrowth::numeric_class),
    json_and_bytes("origin", &RuleGrowth::origin),
    json_and_bytes("matches", &RuleGrowth::matches),
    json_and_bytes("new_nodes", &RuleGrowth::new_nodes),
    json_and_bytes("unions", &RuleGrowth::unions),
    json_only("seconds", &RuleGrowth::seconds),
};

template <>
inline constexpr auto kReportFields<RivalReport> = std::tuple{
    json_and_bytes("value", &RivalReport::value),
    json_and_bytes("extra_us", &RivalReport::extra_us),
    json_and_bytes("why", &RivalReport::why),
    json_and_bytes("taken", &RivalReport::taken),
    json_and_bytes("other", &RivalReport::other),
};

// Kernels of a library are never kept beside a plan, so what is said of the library isn't either.
template <>
inline constexpr auto kReportFields<KernelReport> = std::tuple{
    json_and_bytes("name", &KernelReport::name),
    json_and_bytes("title", &KernelReport::title),
    json_and_bytes("packs", &KernelReport::packs),
    json_and_bytes("result", &KernelReport::result),
    json_and_bytes("ops", &KernelReport::ops, text_line("ops")),
    json_and_bytes("nodes", &KernelReport::nodes),
    json_and_bytes("rules", &KernelReport::rules, text_line("rules")),
    json_and_bytes("model_us", &KernelReport::model_us),
    json_and_bytes("model_bytes", &KernelReport::model_bytes),
    json_and_bytes("model_flops", &KernelReport::model_flops),
    json_and_bytes("bytes_us", &KernelReport::bytes_us),
    json_and_bytes("flops_us", &KernelReport::flops_us),
    json_and_bytes("launch_us", &KernelReport::launch_us),
    json_and_bytes("strategy", &KernelReport::strategy),
    json_and_bytes("schedule", &KernelReport::schedule),
    json_and_bytes("measured_us", &KernelReport::measured_us),
    json_and_bytes("measured_low_us", &KernelReport::measured_low_us),
    json_and_bytes("measured_high_us", &KernelReport::measured_high_us),
    json_only("compile_ms", &KernelReport::compile_ms),
    json_only("from_cache", &KernelReport::from_cache),
    json_only("launch", &KernelReport::launch),
    json_only("by_library", &KernelReport::by_library),
    json_only("library", &KernelReport::library),
    json_only("why_no_library", &KernelReport::why_no_library, text_line("not by the library")),
    json_only("own_us", &KernelReport::own_us),
    json_only("library_us", &KernelReport::library_us),
    json_only("slow_paths", &KernelReport::slow_paths, text_lines("slow")),
    json_and_bytes("rivals", &KernelReport::rivals),
    json_only("text", &KernelReport::text),
    not_written("low_level", &KernelReport::low_level),
    not_written("assembly", &KernelReport::assembly),
};

template <>
inline constexpr auto kReportFields<StoredReport> = std::tuple{
    json_and_bytes("value", &StoredReport::value),
    json_and_bytes("type", &StoredReport::type),
    json_and_bytes("kernel", &StoredReport::kernel),
    json_and_bytes("readers", &StoredReport::readers),
    json_and_bytes("because", &StoredReport::because),
    json_and_bytes("why", &StoredReport::why),
    json_and_bytes("extra_us", &StoredReport::extra_us),
};

template <>
inline constexpr auto kReportFields<SearchReport> = std::tuple{
    json_and_bytes("mode", &SearchReport::mode),
    json_and_bytes("budget", &SearchReport::budget),
    json_only("recorded", &SearchReport::recorded),
    json_and_bytes("seconds", &SearchReport::seconds),
    json_and_bytes("candidates", &SearchReport::candidates),
    json_and_bytes("timed", &SearchReport::timed),
    json_and_bytes("remembered", &SearchReport::remembered),
    json_and_bytes("compared", &SearchReport::compared),
    json_and_bytes("first_us", &SearchReport::first_us),
    json_and_bytes("best_us", &SearchReport::best_us),
    json_and_bytes("bound_us", &SearchReport::bound_us),
    json_and_bytes("stopped", &SearchReport::stopped),
    json_and_bytes("comparisons", &SearchReport::comparisons),
};

template <>
inline constexpr auto kReportFields<PlanReport> = std::tuple{
    json_and_bytes("variant", &PlanReport::variant),
    json_and_bytes("sizes", &PlanReport::sizes),
    json_and_bytes("first_kernel", &PlanReport::first_kernel),
    json_and_bytes("n_kernels", &PlanReport::n_kernels),
    json_and_bytes("model_us", &PlanReport::model_us),
    json_and_bytes("origin", &PlanReport::origin),
};

template <>
inline constexpr auto kReportFields<FusionReport> = std::tuple{
    json_and_bytes("variant", &FusionReport::variant),
    json_and_bytes("pattern", &FusionReport::pattern),
    json_and_bytes("places", &FusionReport::places),
    json_and_bytes("tokens", &FusionReport::tokens),
    json_and_bytes("hidden", &FusionReport::hidden),
    json_and_bytes("intermediate", &FusionReport::intermediate),
    json_and_bytes("dtype", &FusionReport::dtype),
    json_and_bytes("decision", &FusionReport::decision),
    json_and_bytes("source", &FusionReport::source),
    json_and_bytes("ratio", &FusionReport::ratio),
    json_and_bytes("low", &FusionReport::low),
    json_and_bytes("high", &FusionReport::high),
    json_and_bytes("rounds", &FusionReport::rounds),
    json_and_bytes("fused_kernels", &FusionReport::fused_kernels),
    json_and_bytes("unfused_kernels", &FusionReport::unfused_kernels),
    json_and_bytes("note", &FusionReport::note),
};

template <>
inline constexpr auto kReportFields<MemoryReport> = std::tuple{
    json_and_bytes("sizes", &MemoryReport::sizes),
    json_and_bytes("peak", &MemoryReport::peak),
    json_and_bytes("unshared", &MemoryReport::unshared),
    json_and_bytes("folded", &MemoryReport::folded),
    json_and_bytes("kept", &MemoryReport::kept, text_lines("folded")),
};

// Lists that are kept hold what planning adds; stages, variants and memory are each compile's own.
template <>
inline constexpr auto kReportFields<CompileReport> = std::tuple{
    json_only("stages", &CompileReport::stages),
    json_and_bytes("egraph_nodes", &CompileReport::egraph_nodes),
    json_and_bytes("egraph_classes", &CompileReport::egraph_classes),
    json_and_bytes("rules", &CompileReport::rules),
    json_and_bytes("search_bits", &CompileReport::search_bits),
    json_and_bytes("search_candidates", &CompileReport::search_candidates),
    json_and_bytes("search_kernels", &CompileReport::search_kernels),
    json_and_bytes("model_us", &CompileReport::model_us),
    json_only("target", &CompileReport::target, text_line("target")),
    json_only("machine", &CompileReport::machine, text_line("machine")),
    json_only("graph", &CompileReport::graph),
    json_and_bytes("searches", &CompileReport::searches),
    json_only("plans", &CompileReport::plans),
    json_and_bytes("kernels", &CompileReport::kernels),
    json_and_bytes("stored", &CompileReport::stored),
    json_only("fusion", &CompileReport::fusion),
    json_only("memory", &CompileReport::memory),
    json_and_bytes("notes", &CompileReport::notes),
};

// A member without its row fails here.
static_assert(kListsAllMembers<StageReport>);
static_assert(kListsAllMembers<RuleGrowth>);
static_assert(kListsAllMembers<RivalReport>);
static_assert(kListsAllMembers<KernelReport>);
static_assert(kListsAllMembers<StoredReport>);
static_assert(kListsAllMembers<SearchReport>);
static_assert(kListsAllMembers<PlanReport>);
static_assert(kListsAllMembers<FusionReport>);
static_assert(kListsAllMembers<MemoryReport>);
static_assert(kListsAllMembers<CompileReport>);

}  // namespace luminal
