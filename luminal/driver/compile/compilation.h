// Compilation: the phases from a graph to a program. compile() runs all of them; questions about a
// plan stop after plan(), and so see exactly the plan that runs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "luminal/backends/backend.h"
#include "luminal/driver/compile/compile_parts.h"
#include "luminal/driver/compile/load_data.h"
#include "luminal/driver/executable.h"
#include "luminal/driver/options/variants.h"
#include "luminal/driver/report/step_notes.h"

namespace luminal {

class PlanCache;

class Compilation {
 public:
  // All of it must outlive the compilation.
  Compilation(const Graph& graph, const CompileOptions& options, const PartsUse& parts = {});

  // The phases, in this order; each adds to the report. Each needs those before it, except that
  // read_weights() is optional.
  void verify();        // and copies the graph, so that later changes don't matter
  void read_weights();  // starts reading, in parallel with the phases that follow
  void plan();          // one plan per variant, on backends that run plans
  // Between plan() and generate_code(): other strategies and schedules for the steps of a plan.
  void choose(size_t variant, const std::function<void(kernel::KernelStep&)>& change);
  void generate_code();  // of all plans: the programs
  Executable executable();

  // Call before plan(): GEMMs read weights as they are, not in packed panels.
  void leave_weights_unpacked() { packs_weights_ = false; }

  // After plan() failed: plans again to find the cause, and throws it. See no_plan.h.
  [[noreturn]] void throw_no_plan(const std::exception& error) const;

  const backends::Backend& backend() const { return backend_; }
  const CompileReport& report() const { return report_; }
  const Variants& variants() const { return variants_; }
  // Of plan(), by variant.
  const kernel::PlannedGraph& planned(size_t variant) const { return *requests_[variant].planned; }
  std::string target() const { return backend_.target(requests_.front().options); }
  std::shared_ptr<const StepNotes> step_notes(size_t variant) const;
  // Of generate_code(), by variant.
  runtime::Program& program(size_t variant) const { return *programs_[variant]; }

 private:
  backends::LoadRequest request_for(size_t variant) const;
  void plan_variant(size_t variant, PlanCache& cache);
  void keep_plan(CompiledParts& parts) const;

  const Graph& source_;
  const CompileOptions& options_;
  PartsUse parts_;
  CompileReport unread_;
  CompileReport& report_;
  const backends::Backend& backend_;
  std::filesystem::path folder_;  // the cache of plans and code; empty: none
  bool packs_weights_ = true;

  std::shared_ptr<const Graph> graph_;
  std::vector<Expr> variables_;
  Variants variants_;
  backends::PortMap ports_;
  std::optional<DataLoading> loading_;
  std::vector<CompileOptions> of_variant_;  // with the sizes that each is planned for
  std::vector<backends::LoadRequest> requests_;
  std::vector<std::unique_ptr<runtime::Program>> programs_;
};

}  // namespace luminal
