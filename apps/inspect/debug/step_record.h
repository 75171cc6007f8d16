// StepRecord: records what each step of a run read and wrote, to compare two runs, and to detect
// values overwritten before their last read.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/inspect/debug/numbers.h"
#include "luminal/kernel/plan/planned_graph.h"
#include "luminal/runtime/program.h"

namespace luminal::debug {

struct SeenTensor {
  std::string type;    // "f32[4, 8]"
  std::string digest;  // hash of its bytes
  bool output = false;
  Numbers numbers;              // outputs
  kernel::ParamId shares = {};  // output: the parameter whose memory it reuses
};

struct SeenStep {
  kernel::StepId step;  // of the plan
  IdVector<kernel::ParamId, SeenTensor> params;
};

// A step read other bytes than were written, or than other steps read before.
struct Overwritten {
  kernel::StepId reader;
  kernel::ParamId param = {};   // of the reader
  kernel::StepId writer = {};   // the step that made the value; none: a leaf
  kernel::StepId culprit = {};  // the step that overwrote it in between, if it is known
};

class StepRecord : public runtime::StepObserver {
 public:
  // Both must outlive the record.
  StepRecord(const Subject& subject, const kernel::PlannedGraph& planned)
      : subject_(subject), planned_(planned) {}

  void before(const runtime::StepView& view) override;
  void after(const runtime::StepView& view) override;

  const std::vector<SeenStep>& steps() const { return steps_; }
  const std::optional<Overwritten>& overwritten() const { return overwritten_; }

 private:
  // A tensor of a step: its type, and the value it holds.
  struct Slot {
    DType dtype;
    Dims dims;
    kernel::SourceId source;  // if it is one
    kernel::ClassId value;
    bool output;
  };
  struct Written {
    std::string digest;
    kernel::StepId step;  // none: a leaf
  };
  struct Range {
    kernel::StepId step;
    const std::byte *begin, *end;
  };

  IdVector<kernel::ParamId, Slot> slots(kernel::StepId step) const;
  TensorData data_at(const Slot& slot, const void* at) const;
  void check_read(kernel::StepId reader, kernel::ParamId param, const Slot& slot,
                  const TensorData& data, const std::string& digest);

  const Subject& subject_;
  const kernel::PlannedGraph& planned_;
  std::vector<SeenStep> steps_;
  std::map<std::pair<kernel::SourceId, kernel::ClassId>, Written> known_;
  std::vector<Range> writes_;  // in order
  std::optional<Overwritten> overwritten_;
};

}  // namespace luminal::debug
