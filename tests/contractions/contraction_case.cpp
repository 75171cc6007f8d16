#include "tests/contractions/contraction_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/backends/cpu/target/target.h"
#include "tests/support/random_source.h"

namespace luminal::tests {
namespace {

constexpr int64_t kSizes[] = {1, 3, 17, 63, 64, 65};
constexpr int64_t kLarge = 4097;
// Pairs along k are packed where they come whole; the last is more than is summed in one go.
constexpr int64_t kWholePairs[] = {2, 16, 64, 66, 130, 2050};

template <typename T>
using Named = std::pair<T, const char*>;

constexpr Named<Form> kForms[] = {
    {Form::Matmul, "matmul"}, {Form::Conv1d, "conv1d"}, {Form::Conv2d, "conv2d"}};
constexpr Named<Layout> kLayouts[] = {
    {Layout::Plain, "plain"},     {Layout::Transposed, "transposed"},
    {Layout::Sliced, "sliced"},   {Layout::Flipped, "flipped"},
    {Layout::Strided, "strided"}, {Layout::Repeated, "repeated"}};
constexpr Named<Role> kRoles[] = {
    {Role::Input, "input"}, {Role::Weight, "weight"}, {Role::State, "state"}};
constexpr Named<Batch> kBatches[] = {{Batch::None, "none"},
                                     {Batch::Equal, "equal"},
                                     {Batch::SharedRight, "shared right"},
                                     {Batch::SharedLeft, "shared left"},
                                     {Batch::Crossed, "crossed"},
                                     {Batch::Grouped, "grouped"},
                                     {Batch::SplitHeads, "split heads"},
                                     {Batch::MergedHeads, "merged heads"}};
constexpr Named<Prologue> kPrologues[] = {{Prologue::None, "none"},
                                          {Prologue::LeftScaled, "left scaled"},
                                          {Prologue::LeftSilu, "silu of left"},
                                          {Prologue::RightI8, "right i8"},
                                          {Prologue::RightU4, "right u4"},
                                          {Prologue::RightQ8, "right q8"},
                                          {Prologue::RightQ4, "right q4"},
                                          {Prologue::RightQ4Super, "right q4 super"},
                                          {Prologue::RightQ6Super, "right q6 super"}};
constexpr Named<Epilogue> kEpilogues[] = {{Epilogue::None, "none"},
                                          {Epilogue::Bias, "bias"},
                                          {Epilogue::BiasGelu, "bias, gelu"},
                                          {Epilogue::BiasGeluTanh, "bias, gelu by tanh"},
                                          {Epilogue::Relu, "relu"},
                                          {Epilogue::Residual, "residual"},
                                          {Epilogue::SwiGlu, "swiglu"},
                                          {Epilogue::Cast, "cast"},
                                          {Epilogue::RowScale, "row scale"},
                                          {Epilogue::BiasResidualRelu, "bias, residual, relu"},
                                          {Epilogue::TwoResults, "two results"}};
constexpr Named<Dynamic> kDynamics[] = {{Dynamic::None, "none"},
                                        {Dynamic::Rows, "rows"},
                                        {Dynamic::Columns, "columns"},
                                        {Dynamic::Depth, "depth"}};

template <typename T, size_t N>
std::string name_of(const Named<T> (&list)[N], T value) {
  for (const auto& [v, text] : list) {
    if (v == value) return text;
  }
  return "";
}

template <typename T, size_t N>
T draw(RandomSource& random, const Named<T> (&list)[N]) {
  return random.of(std::span<const Named<T>>(list)).first;
}

constexpr Types kTypes[] = {
    {DType::F32, DType::F32, DType::F32},  {DType::BF16, DType::BF16, DType::BF16},
    {DType::F16, DType::F16, DType::F16},  {DType::BF16, DType::BF16, DType::F32},
    {DType::F32, DType::BF16, DType::F32}, {DType::F16, DType::F16, DType::F32},
    {DType::BF16, DType::F32, DType::F32}, {DType::F32, DType::F16, DType::F32},
    {DType::F64, DType::F64, DType::F64},  {DType::I32, DType::I32, DType::I32},
};

std::string text(const Types& types) {
  return fmt::format("{} · {} in {}", name(types.left), name(types.right), name(types.product));
}

Types draw_types(RandomSource& random) {
  // f32 and bf16 are what is tiled in most ways.
  if (random.chance(0.6)) return kTypes[random.below(2)];
  return random.of(std::span<const Types>(kTypes));
}

int64_t draw_size(RandomSource& random) {
  if (random.chance(0.15)) return random.between(2, 130);
  return random.of(std::span<const int64_t>(kSizes));
}

void draw_sizes(ContractionCase& one, RandomSource& random) {
  one.rows = draw_size(random);
  one.columns = draw_size(random);
  one.depth = draw_size(random);
  if (random.chance(0.4)) one.depth = random.of(std::span<const int64_t>(kWholePairs));
  one.batches = random.between(1, 3);
  one.heads = random.between(1, 3);
  one.groups = random.between(2, 3);
  int64_t* sizes[] = {&one.rows, &one.columns, &one.depth};
  if (random.chance(0.1)) *sizes[random.below(3)] = kLarge;
  if (random.chance(0.03)) one.depth = 0;
}

void draw_window(ContractionCase& one, RandomSource& random) {
  static constexpr int64_t kChannels[] = {1, 3, 4, 17};
  static constexpr int64_t kPositions[] = {7, 16, 17, 33};
  Window& window = one.window;
  window.channels = random.of(std::span<const int64_t>(kChannels));
  window.positions = random.of(std::span<const int64_t>(kPositions));
  if (one.form == Form::Conv2d) window.positions = std::min<int64_t>(window.positions, 17);
  window.kernel = random.between(1, 3);
  window.stride = random.between(1, 2);
  window.padding = random.between(0, window.kernel / 2);
  window.dilation = random.between(1, 2);
  if (window.channels == 4 && random.chance(0.5)) {
    window.groups = 2;
    one.columns = 2 * random.between(1, 20);
  }
}

void draw_dynamic(ContractionCase& one, RandomSource& random) {
  one.dynamic = draw(random, kDynamics);
  if (one.dynamic == Dynamic::None) return;
  // What a bound says chooses tiles; the last is no help at all.
  static constexpr int64_t kBounds[] = {1, 2, 9, 16, 70, 100, 1 << 20};
  one.most_dynamic = random.of(std::span<const int64_t>(kBounds));
  for (int run = 0; run < 3; ++run) {
    const int64_t size = random.chance(0.25) ? 0 : draw_size(random);
    one.run_sizes.push_back(std::min(size, one.most_dynamic));
  }
  // Weights have their sizes before the first run.
  if (one.dynamic != Dynamic::Rows) one.right_role = Role::Input;
}

bool has_blocks(Prologue prologue) {
  return is_quantised(prologue) && prologue != Prologue::RightI8;
}

// What doesn't go together, or says nothing more.
void settle(ContractionCase& one, RandomSource& random) {
  if (has_blocks(one.prologue)) one.depth = 32 * random.between(1, 4);
  if (one.prologue == Prologue::RightQ4Super || one.prologue == Prologue::RightQ6Super) {
    one.depth = 256 * random.between(1, 2);
  }
  if (is_quantised(one.prologue)) {
    one.right = random.chance(0.5) ? Layout::Plain : Layout::Transposed;
    // What models have: few rows by weights.
    if (random.chance(0.7)) one.rows = random.between(1, 9);
    if (random.chance(0.5)) one.right_role = Role::Weight;
    if (random.chance(0.5)) one.types = kTypes[0];
    if (one.types.product == DType::F64) one.types = kTypes[0];
  }
  if (one.types.product == DType::I32) {
    one.prologue = Prologue::None;
    if (one.epilogue != Epilogue::Bias && one.epilogue != Epilogue::Residual) {
      one.epilogue = random.chance(0.5) ? Epilogue::None : Epilogue::Relu;
    }
  }
  if (one.form != Form::Matmul) {
    one.batch = Batch::None;
    one.prologue = Prologue::None;
    one.left = one.right = Layout::Plain;
    one.dynamic = Dynamic::None;
    one.turned_result = false;
    if (one.epilogue == Epilogue::SwiGlu || one.epilogue == Epilogue::RowScale) {
      one.epilogue = Epilogue::BiasResidualRelu;
    }
  }
  if (one.batch == Batch::SplitHeads || one.batch == Batch::MergedHeads) {
    one.left = one.right = Layout::Plain;
    if (one.columns == kLarge) one.columns = 65;
  }
}

}  // namespace

bool is_quantised(Prologue prologue) { return prologue >= Prologue::RightI8; }

ContractionCase contraction_case(uint64_t seed) {
  RandomSource random(seed);
  ContractionCase one{.seed = seed};
  const double form = random.uniform();
  one.form = form < 0.85 ? Form::Matmul : form < 0.92 ? Form::Conv1d : Form::Conv2d;
  one.types = draw_types(random);
  if (random.chance(0.7)) one.left = draw(random, kLayouts);
  if (random.chance(0.7)) one.right = draw(random, kLayouts);
  one.right_role = random.chance(0.5) ? Role::Weight : draw(random, kRoles);
  if (random.chance(0.6)) one.batch = draw(random, kBatches);
  if (random.chance(0.4)) one.prologue = draw(random, kPrologues);
  one.epilogue = draw(random, kEpilogues);
  one.turned_result = random.chance(0.15);
  draw_sizes(one, random);
  if (one.form != Form::Matmul) draw_window(one, random);
  settle(one, random);
  if (one.form == Form::Matmul && random.chance(0.25) && !has_blocks(one.prologue) &&
      std::max({one.rows, one.columns, one.depth}) < 1000) {
    draw_dynamic(one, random);
  }
  one.fusion = random.chance(0.2) ? FusionPolicy::Always : FusionPolicy::Modelled;
  one.threads = random.chance(0.15) ? 2 : 1;
  one.n_runs = one.dynamic != Dynamic::None ? static_cast<int>(one.run_sizes.size())
               : one.n_products() > 100'000 ? 1
                                            : 2;
  const auto others = static_cast<int64_t>(backends::cpu::Target::here().size()) - 1;
  one.weaker_target =
      random.chance(0.75) ? 0 : static_cast<int>(random.between(1, std::max<int64_t>(others, 1)));
  return one;
}

int64_t ContractionCase::n_products() const {
  if (form == Form::Conv1d) {
    return batches * columns * window.positions * window.channels * window.kernel;
  }
  if (form == Form::Conv2d) {
    return batches * columns * window.positions * window.positions * window.channels *
           window.kernel * window.kernel;
  }
  const bool several = batch != Batch::None;
  const bool has_heads =
      several && batch != Batch::Equal && batch != Batch::SharedLeft && batch != Batch::SharedRight;
  int64_t count = rows * columns * depth * (several ? batches : 1) * (has_heads ? heads : 1);
  if (batch == Batch::Grouped) count *= groups;
  return epilogue == Epilogue::SwiGlu ? 2 * count : count;
}

std::string ContractionCase::target() const {
  const auto& here = backends::cpu::Target::here();
  return here[std::min(static_cast<size_t>(weaker_target), here.size() - 1)].name;
}

std::map<std::string, std::string> features(const ContractionCase& one) {
  return {
      {"form", name_of(kForms, one.form)},
      {"left", name_of(kLayouts, one.left)},
      {"right", name_of(kLayouts, one.right)},
      {"right role", name_of(kRoles, one.right_role)},
      {"batch", name_of(kBatches, one.batch)},
      {"prologue", name_of(kPrologues, one.prologue)},
      {"epilogue", name_of(kEpilogues, one.epilogue)},
      {"types", text(one.types)},
      {"dynamic", name_of(kDynamics, one.dynamic)},
      {"largest size", std::max({one.rows, one.columns, one.depth}) >= kLarge ? "4097" : "less"},
      {"target", one.target()},
      {"k", one.depth == 0 && one.form == Form::Matmul ? "0" : "more"}};
}

std::map<std::string, std::vector<std::string>> all_features() {
  std::map<std::string, std::vector<std::string>> all;
  auto add = [&](const char* feature, const auto& list) {
    for (const auto& entry : list) all[feature].emplace_back(entry.second);
  };
  add("form", kForms);
  add("left", kLayouts);
  add("right", kLayouts);
  add("right role", kRoles);
  add("batch", kBatches);
  add("prologue", kPrologues);
  add("epilogue", kEpilogues);
  for (const Types& types : kTypes) all["types"].push_back(text(types));
  add("dynamic", kDynamics);
  all["largest size"] = {"4097", "less"};
  for (const auto& target : backends::cpu::Target::here()) all["target"].push_back(target.name);
  all["k"] = {"0", "more"};
  return all;
}

std::string text(const ContractionCase& one) {
  const auto named = features(one);
  std::string result;
  if (one.form == Form::Matmul) {
    result =
        fmt::format("matmul {} × {} × {}, batch {} ({}, {} heads, {} groups)", one.rows,
                    one.columns, one.depth, named.at("batch"), one.batches, one.heads, one.groups);
    result += fmt::format(", left {}, right {}, prologue {}{}", named.at("left"), named.at("right"),
                          named.at("prologue"), one.turned_result ? ", rows last" : "");
  } else {
    const Window& w = one.window;
    result =
        fmt::format("{} of {} × {} × {} by {} × {}, stride {}, padding {}, dilation {}, {} groups",
                    named.at("form"), one.batches, w.channels, w.positions, one.columns, w.kernel,
                    w.stride, w.padding, w.dilation, w.groups);
  }
  result += fmt::format(", {}, right is {}, epilogue {}", named.at("types"), named.at("right role"),
                        named.at("epilogue"));
  if (one.dynamic != Dynamic::None) {
    result += fmt::format(", {} dynamic up to {}", named.at("dynamic"), one.most_dynamic);
  }
  return result + fmt::format(", {}, {} threads", one.target(), one.threads);
}

}  // namespace luminal::tests
