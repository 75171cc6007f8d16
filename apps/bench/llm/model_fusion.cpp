#include "apps/bench/llm/model_fusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/bench/llm/greedy.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/cpu.h"

namespace luminal::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kRatioConfidence = 0.95;
constexpr double kRatioMargin = 0.03;
// Indices of the policies.
constexpr size_t kNever = 0, kAlways = 1, kMeasured = 2, kPolicies = 3;

struct Answered {
  double first_ms = 0, total_ms = 0;
  std::vector<TokenId> ids;
};

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Answered answer_greedily(llm::Session& session, const FusionSetting& setting) {
  session.rewind(0);
  const std::vector<TokenId> prompt =
      spread_prompt(setting.prefill, session.model().decoder().vocab_size);
  Answered answered;
  const Clock::time_point start = Clock::now();
  answered.ids.push_back(likeliest(session.prompt(prompt)));
  answered.first_ms = milliseconds_since(start);
  for (int64_t k = 1; k < setting.decode; ++k) {
    answered.ids.push_back(likeliest(session.add(answered.ids.back())));
  }
  answered.total_ms = milliseconds_since(start);
  return answered;
}

void judge_setting(SettingTimes& times) {
  std::vector<double> always, measured;
  const auto& of = times.of_policy;
  const size_t better =
      median(of[kNever].total_ms) <= median(of[kAlways].total_ms) ? kNever : kAlways;
  const size_t both = std::min(of[kNever].total_ms.size(), of[kAlways].total_ms.size());
  for (size_t run = 0; run < both; ++run) {
    always.push_back(of[kAlways].total_ms[run] / of[kNever].total_ms[run]);
  }
  for (size_t run = 0; run < of[kMeasured].total_ms.size(); ++run) {
    measured.push_back(of[kMeasured].total_ms[run] / of[better].total_ms[run]);
  }
  times.always_by_never = judge(always, kRatioConfidence, 0);
  times.measured_by_better = judge(measured, kRatioConfidence, kRatioMargin);
}

bool always_loses(const SettingTimes& times) {
  return times.always_by_never.interval.low > 1 || times.of_policy[kAlways].hopeless;
}

int64_t context_of(const std::vector<FusionSetting>& settings) {
  int64_t longest = 0;
  for (const FusionSetting& setting : settings) {
    longest = std::max(longest, setting.prefill + setting.decode);
  }
  return longest;
}

nlohmann::ordered_json judged(const Judgement& judgement) {
  return {{"ratio", judgement.ratio},
          {"low", judgement.interval.low},
          // Too few runs give an infinite bound, which JSON can't represent.
          {"high", std::isfinite(judgement.interval.high)
                       ? nlohmann::ordered_json(judgement.interval.high)
                       : nlohmann::ordered_json(nullptr)}};
}

}  // namespace

std::string text(const FusionSetting& setting) {
  return fmt::format("[prefill={}, decode={}]", setting.prefill, setting.decode);
}

const char* policy_name(size_t policy) {
  static constexpr const char* kNames[] = {"never", "always", "measured"};
  return kNames[policy];
}

ModelFusion run_model_fusion(const ModelFusionOptions& options, const Progress& progress) {
  if (options.settings.empty()) throw UserError("bench fusion: there is no setting to run");
  ModelFusion result{.options = options, .settings = {}, .kernels = {}};
  const llm::Model model = llm::Model::open(options.model);
  std::vector<std::unique_ptr<llm::Session>> sessions;
  for (size_t p = 0; p < kPolicies; ++p) {
    progress({"compile", fmt::format("policy {}", policy_name(p)), static_cast<int64_t>(p),
              static_cast<int64_t>(kPolicies)});
    llm::SessionOptions session = options.session;
    session.context = context_of(options.settings);
    session.compile.plan.fusion = kFusionPolicies[p];
    CompileReport report;
    session.compile.report = &report;
    sessions.push_back(std::make_unique<llm::Session>(model, session));
    result.kernels.push_back(static_cast<int64_t>(report.kernels.size()));
  }
  int64_t done = 0;
  const int64_t total = std::ssize(options.settings) * (options.runs + 1);
  for (const FusionSetting& setting : options.settings) {
    SettingTimes times{.setting = setting,
                       .of_policy = std::vector<PolicyTimes>(kPolicies),
                       .always_by_never = {},
                       .measured_by_better = {}};
    std::vector<TokenId> first_answer;
    // The warm-up run (-1) has cold caches and pages, and provides the answers.
    for (int run = -1; run < options.runs; ++run) {
      progress({"runs", text(setting), done++, total});
      for (size_t turn = 0; turn < kPolicies; ++turn) {
        const size_t p = (turn + static_cast<size_t>(run + 1)) % kPolicies;
        if (times.of_policy[p].hopeless) continue;
        Answered answered = answer_greedily(*sessions[p], setting);
        PolicyTimes& of = times.of_policy[p];
        if (run < 0) {
          if (p == 0) first_answer = answered.ids;
          of.same_answer = answered.ids == first_answer;
          continue;
        }
        of.total_ms.push_back(answered.total_ms);
        of.first_ms.push_back(answered.first_ms);
      }
      if (run == 0) give_up_hopeless(times);
    }
    judge_setting(times);
    result.settings.push_back(std::move(times));
  }
  return result;
}

void give_up_hopeless(SettingTimes& times) {
  PolicyTimes& never = times.of_policy[kNever];
  PolicyTimes& always = times.of_policy[kAlways];
  never.hopeless = never.total_ms.front() > kHopeless * always.total_ms.front();
  always.hopeless = always.total_ms.front() > kHopeless * never.total_ms.front();
}

std::string model_fusion_json(const ModelFusion& result) {
  const ModelFusionOptions& options = result.options;
  nlohmann::ordered_json config = {
      {"model", options.model},
      {"dtype", name(options.session.dtype)},
      {"threads", options.session.compile.backend.threads},
      {"runs", options.runs},
      {"warm_ups", 1},
      {"fusion_profile", options.session.compile.storage.fusion_profile},
      {"device", base::cpu_info().name}};
  for (size_t p = 0; p < kPolicies; ++p) config["kernels"][policy_name(p)] = result.kernels[p];
  nlohmann::ordered_json json = {{"config", std::move(config)}};
  for (size_t p = 0; p < kPolicies; ++p) {
    auto& policy = json["results"][policy_name(p)];
    for (const SettingTimes& times : result.settings) {
      const PolicyTimes& of = times.of_policy[p];
      policy[text(times.setting)] = {{"total_ms", median(of.total_ms)},
                                     {"first_token_ms", median(of.first_ms)},
                                     {"total_ms_samples", of.total_ms},
                                     {"same_answer", of.same_answer},
                                     {"hopeless", of.hopeless}};
    }
  }
  for (const SettingTimes& times : result.settings) {
    json["ratios"][text(times.setting)] = {
        {"always_by_never", judged(times.always_by_never)},
        {"always_loses", always_loses(times)},
        {"measured_by_better", judged(times.measured_by_better)}};
  }
  return json.dump(2) + "\n";
}

std::string model_fusion_table(const ModelFusion& result) {
  std::string out = fmt::format("{:>8} {:>7} {:>10} {:>10} {:>10}  {:<24} {:<24}\n", "prefill",
                                "decode", "never ms", "always ms", "measured",
                                "always / never (95 %)", "measured / better (95 %)");
  std::vector<std::string> loses;
  bool hopeless = false;
  for (const SettingTimes& times : result.settings) {
    const bool one_run = times.of_policy[kNever].hopeless || times.of_policy[kAlways].hopeless;
    hopeless |= one_run;
    const auto ratio = [](const Judgement& of) {
      return fmt::format("{:.3f} ({:.3f} … {:.3f})", of.ratio, of.interval.low, of.interval.high);
    };
    out += fmt::format(
        "{:>8} {:>7} {:>10.1f} {:>10.1f} {:>10.1f}  {:<24} {:<24}\n", times.setting.prefill,
        times.setting.decode, median(times.of_policy[kNever].total_ms),
        median(times.of_policy[kAlways].total_ms), median(times.of_policy[kMeasured].total_ms),
        one_run ? fmt::format("{:.3f} (one run)", times.always_by_never.ratio)
                : ratio(times.always_by_never),
        ratio(times.measured_by_better));
    if (always_loses(times)) loses.push_back(text(times.setting));
  }
  out += loses.empty() ? "fusing everything loses in none of the settings\n"
                       : fmt::format("fusing everything loses in {} of {} settings: {}\n",
                                     loses.size(), result.settings.size(), fmt::join(loses, ", "));
  if (hopeless) {
    out += fmt::format(
        "one run: {:.0f} times as slow as the other in the first, so it got no more\n", kHopeless);
  }
  return out;
}

}  // namespace luminal::bench
