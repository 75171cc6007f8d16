#include "tests/support/forge.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "luminal/base/byte_stream.h"
#include "luminal/kernel/plan/plan_bytes.h"
#include "luminal/records/store.h"

namespace luminal::tests {
namespace {

// A text of an exported record, which is in hex where it isn't UTF-8.
std::string bytes_of(const nlohmann::json& text) {
  if (text.is_string()) return text.get<std::string>();
  const std::string hex = text["hex"];
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

size_t below(size_t n, std::mt19937& random) { return n == 0 ? 0 : random() % n; }

void mutate_index(Expr& index, std::mt19937& random) {
  constexpr int64_t kAmounts[] = {1, -1, 2, 16, 1 << 10, 1 << 24, -(1 << 24), int64_t{1} << 40};
  const Expr amount = kAmounts[below(std::size(kAmounts), random)];
  index = below(4, random) == 0 ? index * amount : index + amount;
}

void mutate_inst(kernel::Stage& stage, kernel::Inst& inst, std::mt19937& random) {
  if (auto* constant = std::get_if<kernel::ConstInst>(&inst.what)) {
    constant->real += 42;
    constant->integer += 7;
  } else if (auto* iota = std::get_if<kernel::IotaInst>(&inst.what)) {
    mutate_index(iota->expr, random);
  } else if (auto* load = std::get_if<kernel::LoadInst>(&inst.what)) {
    if (load->index.empty() || below(4, random) == 0) {
      load->param = kernel::ParamId::of_number(static_cast<int64_t>(below(6, random)) - 1);
    } else {
      mutate_index(load->index[below(load->index.size(), random)].expr, random);
    }
  } else if (auto* local = std::get_if<kernel::LocalInst>(&inst.what)) {
    if (local->index.empty()) {
      local->stage = kernel::StageId::of_number(static_cast<int64_t>(below(6, random)) - 1);
    } else {
      mutate_index(local->index[below(local->index.size(), random)], random);
    }
  } else if (auto* op = std::get_if<kernel::OpInst>(&inst.what)) {
    if (below(2, random) == 0) {
      op->op = op->op == Op::Add ? Op::Mul : Op::Add;
    } else {
      op->operands[below(op->operands.size(), random)] =
          kernel::InstId::at(below(stage.body.size() + 1, random));
    }
  }
}

void mutate_stage(kernel::Stage& stage, std::mt19937& random) {
  switch (below(5, random)) {
    case 0:
      if (auto* output = std::get_if<kernel::OutputTarget>(&stage.target)) {
        if (output->index.empty()) {
          output->param = kernel::ParamId::of_number(static_cast<int64_t>(below(6, random)) - 1);
        } else {
          mutate_index(output->index[below(output->index.size(), random)], random);
        }
        return;
      }
      break;
    case 1:
      if (stage.reduction) {
        stage.reduction->reducer =
            stage.reduction->reducer == Reducer::Sum ? Reducer::Max : Reducer::Sum;
        return;
      }
      break;
    case 2:
      stage.result = kernel::InstId::at(below(stage.body.size() + 1, random));
      return;
    default:
      break;
  }
  if (!stage.body.empty()) {
    mutate_inst(stage, stage.body[below(stage.body.size(), random)], random);
  }
}

}  // namespace

int rewrite_plans(const std::filesystem::path& records,
                  const std::function<void(TunedPlan&)>& change) {
  records::Store store = records::Store::open(records);
  std::stringstream lines;
  store.export_lines(lines);
  int changed = 0;
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json row = nlohmann::json::parse(line);
    if (row.value("kind", "") != "plan") continue;
    const records::PlanKey key{bytes_of(row["question"]), row["device"], row["compiler"]};
    TunedPlan plan = read_tuned_plan(*store.plan(key), "", std::nullopt);
    change(plan);
    store.put_plan(key, write_tuned_plan(plan, "", std::nullopt));
    ++changed;
  }
  return changed;
}

void change_plan(std::string& entry, const std::function<void(kernel::PlannedGraph&)>& change) {
  base::ByteReader in(entry);
  const std::string key(in.text()), report(in.text());
  shape::ExprReader reader(in.text());
  kernel::PlannedGraph planned = kernel::read_plan(reader);
  change(planned);
  shape::ExprWriter writer;
  kernel::write_plan(writer, planned);
  base::ByteWriter out;
  out.text(key);
  out.text(report);
  out.text(writer.bytes());
  entry = out.bytes();
}

void mutate(kernel::PlannedGraph& planned, std::mt19937& random) {
  std::vector<kernel::KernelStep*> steps;
  for (auto& step : planned.plan.steps) {
    if (auto* kernel = std::get_if<kernel::KernelStep>(&step)) steps.push_back(kernel);
  }
  if (steps.empty()) return;
  kernel::Kernel& kernel = steps[below(steps.size(), random)]->lowered.kernel;
  const size_t what = below(8, random);
  if (what == 0 && !kernel.loops.empty()) {
    mutate_index(kernel.loops[kernel::LoopId::at(below(kernel.loops.size(), random))].extent,
                 random);
  } else if (what == 1 && planned.plan.steps.size() > 1) {
    std::swap(planned.plan.steps[below(planned.plan.steps.size(), random)],
              planned.plan.steps[below(planned.plan.steps.size(), random)]);
  } else {
    mutate_stage(kernel.stages[kernel::StageId::at(below(kernel.stages.size(), random))], random);
  }
}

std::string mutated(std::string bytes, std::mt19937& random) {
  for (size_t changes = 1 + below(4, random); changes > 0 && !bytes.empty(); --changes) {
    const size_t at = below(bytes.size(), random);
    switch (below(5, random)) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8, random));
        break;
      case 2:
        bytes.erase(at, 1 + below(8, random));
        break;
      case 3:
        bytes.insert(at, bytes.substr(below(bytes.size(), random), 1 + below(16, random)));
        break;
      default:
        bytes.resize(at + below(bytes.size() - at, random));
        break;
    }
  }
  return bytes;
}

}  // namespace luminal::tests
