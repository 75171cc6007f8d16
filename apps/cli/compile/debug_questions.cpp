#include "apps/cli/compile/debug_questions.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "luminal/base/text/json_text.h"
#include "luminal/search/inspect/answers.h"
#include "luminal/search/inspect/diagnose.h"

namespace luminal::cli {
namespace {

using search::Finding;
using search::Inspection;

// An answer to one kind of question.
struct Section {
  std::string name;
  std::vector<Finding> findings;
  std::string if_none;
};

std::vector<Section> answer(Inspection& inspection, const DebugQuestions& options) {
  std::vector<Section> sections;
  const auto add = [&](const char* name, std::vector<Finding> findings, const char* if_none) {
    sections.push_back({name, std::move(findings), if_none});
  };
  for (const std::string& question : options.inspect_op) {
    add("inspect_op", inspect_op(inspection, question), "the graph has no such op");
  }
  for (const std::string& tensor : options.inspect_var) {
    add("inspect_var", {inspect_tensor(inspection, inspection.find_tensor(tensor))}, "");
  }
  for (const auto& [function, tensor] : options.trace_fn) {
    const NodeId node = inspection.find_tensor(tensor);
    add("trace_fn", trace_function(inspection, function, node), "no row of it mentions the tensor");
  }
  if (options.trace_missing_dtype) {
    add("missing_dtype", missing_dtypes(inspection), "every value has a type");
  }
  for (size_t i = 0; i < options.why_not.size(); ++i) {
    const NodeId node = inspection.find_tensor(options.at[i]);
    add("why_not", {explain_why_not(inspection, options.why_not[i], node)}, "");
  }
  if (options.analyze) add("causes", diagnose(inspection), "nothing is wrong");
  return sections;
}

std::string json_of(const Inspection& inspection, const std::string& name,
                    const std::vector<Section>& sections) {
  base::JsonText json;
  json.begin_object();
  json.field("graph", name);
  json.field("planned", inspection.plan() != nullptr);
  if (inspection.plan() != nullptr) json.field("kernels", inspection.plan()->plan.n_kernels());
  json.field("failed_stage", inspection.failed_stage());
  json.field("error", inspection.error());
  std::string open;
  for (const Section& section : sections) {
    if (section.name != open) {
      if (!open.empty()) json.end_array();
      json.key(section.name);
      json.begin_array();
      open = section.name;
    }
    for (const Finding& finding : section.findings) write(json, finding);
  }
  if (!open.empty()) json.end_array();
  json.end_object();
  return json.text() + "\n";
}

std::string text_of(const Inspection& inspection, const std::string& name,
                    const std::vector<Section>& sections) {
  std::string out;
  if (inspection.plan() != nullptr) {
    out += fmt::format("{}: {} kernels\n", name, inspection.plan()->plan.n_kernels());
  } else {
    out += fmt::format("{}: no plan, stopped at {}: {}\n", name, inspection.failed_stage(),
                       inspection.error());
  }
  for (const Section& section : sections) {
    if (section.findings.empty()) out += section.if_none + "\n";
    for (const Finding& finding : section.findings) out += text(finding);
  }
  return out;
}

}  // namespace

void DebugQuestions::add_to(CLI::App& app) {
  const char* questions = "Questions";
  app.add_option(
         "--inspect-op", inspect_op,
         "Show what each such op was compiled to, or why it isn't a kernel: Add, or Add:CpuKernel")
      ->type_name("OP[:TARGET]")
      ->allow_extra_args(false)
      ->group(questions);
  app.add_option(
         "--inspect-var", inspect_var,
         "Show type, class, terms, users and kernels of a leaf or output by name, or of %12")
      ->type_name("TENSOR")
      ->allow_extra_args(false)
      ->group(questions);
  app.add_option("--trace-fn", trace_fn,
                 "Show the rows of an e-graph function that mention a tensor's class")
      ->type_name("FUNCTION TENSOR")
      ->allow_extra_args(false)
      ->group(questions);
  app.add_flag("--trace-missing-dtype", trace_missing_dtype,
               "Show values without a known type, and the terms and rules responsible")
      ->group(questions);
  app.add_option("--why-not", why_not, "Explain why a rule doesn't match at the tensor of --at")
      ->type_name("RULE")
      ->allow_extra_args(false)
      ->group(questions);
  app.add_option("--at", at, "Tensor of --why-not")
      ->type_name("TENSOR")
      ->allow_extra_args(false)
      ->group(questions);
  app.add_flag("--analyze", analyze, "Find faults, starting from the first cause")
      ->group(questions);
}

bool DebugQuestions::any() const {
  return !inspect_op.empty() || !inspect_var.empty() || !trace_fn.empty() || trace_missing_dtype ||
         !why_not.empty() || !at.empty() || analyze;
}

void DebugQuestions::check() const {
  if (why_not.size() != at.size()) {
    throw CLI::ValidationError("--why-not", "each RULE needs an --at TENSOR");
  }
}

std::string answers(Inspection& inspection, const std::string& name,
                    const DebugQuestions& questions, bool as_json) {
  const std::vector<Section> sections = answer(inspection, questions);
  return as_json ? json_of(inspection, name, sections) : text_of(inspection, name, sections);
}

}  // namespace luminal::cli
