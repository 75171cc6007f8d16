// Recurrent layers, step by step over a known length.
#include "luminal/base/errors.h"
#include "luminal/graph/composite/activation.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/pytorch/aten/op_table.h"

namespace luminal::pytorch {
namespace {

constexpr int64_t kMostSteps = 1024;

enum class Cell { Lstm, Gru, Tanh, Relu };

// The weights of one direction of one layer.
struct Weights {
  Tensor from_input, from_state;
  std::optional<Tensor> input_bias = {}, state_bias = {};
};

struct State {
  Tensor hidden;
  std::optional<Tensor> memory = {};  // of an LSTM
};

Tensor biased(const Tensor& product, const std::optional<Tensor>& bias) {
  return bias ? product + *bias : product;
}

// One step: `x` is the input's product already, [n, gates · size].
State stepped(Cell cell, const Tensor& x, const State& before, const Weights& weights) {
  const Tensor h = biased(matmul(before.hidden, weights.from_state.t()), weights.state_bias);
  const int count = cell == Cell::Lstm ? 4 : cell == Cell::Gru ? 3 : 1;
  const std::vector<Tensor> of_x = chunk(x, count, 1), of_h = chunk(h, count, 1);
  if (cell == Cell::Tanh) return {tanh(x + h), std::nullopt};
  if (cell == Cell::Relu) return {relu(x + h), std::nullopt};
  const Tensor first = sigmoid(of_x[0] + of_h[0]), second = sigmoid(of_x[1] + of_h[1]);
  if (cell == Cell::Gru) {
    const Tensor news = tanh(of_x[2] + first * of_h[2]);
    return {news + second * (before.hidden - news), std::nullopt};
  }
  const Tensor news = tanh(of_x[2] + of_h[2]), shown = sigmoid(of_x[3] + of_h[3]);
  const Tensor memory = second * *before.memory + first * news;
  return {shown * tanh(memory), memory};
}

// x [t, n, input] through one direction; the outputs [t, n, size] and the last state.
std::pair<Tensor, State> along_steps(Cell cell, const Tensor& x, State state,
                                     const Weights& weights, bool backwards) {
  const int64_t steps = *x.dim(0).to_int();
  const Tensor products = biased(matmul(x, weights.from_input.t()), weights.input_bias);
  std::vector<Tensor> outputs(static_cast<size_t>(steps));
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t at = backwards ? steps - 1 - i : i;
    state = stepped(cell, products.select(0, at), state, weights);
    outputs[static_cast<size_t>(at)] = state.hidden;
  }
  return {stack(outputs, 0), state};
}

// (input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
Values recurrent(const Arguments& of, Cell cell) {
  if (of.flag(6) && of.real(5) != 0) throw UserError("it drops values: export after eval()");
  const DType dtype = of.tensor(0).dtype(), compute = is_half(dtype) ? DType::F32 : dtype;
  Tensor x = of.tensor(0).cast(compute);
  const bool biases = of.flag(3), both = of.flag(7), single = x.rank() == 2;
  if (single) x = x.unsqueeze(of.flag(8) ? 0 : 1);
  if (of.flag(8)) x = x.transpose(0, 1);
  const auto steps = x.dim(0).to_int();
  if (!steps || *steps < 1 || *steps > kMostSteps) {
    throw UserError("its length isn't known, or is above 1024: export with a known length");
  }
  std::vector<Tensor> starts;
  if (cell == Cell::Lstm)
    starts = of.tensors(1);
  else
    starts = {of.tensor(1)};
  for (Tensor& start : starts) {
    start = start.cast(compute);
    if (single) start = start.unsqueeze(1);
  }
  const std::vector<Tensor> params = of.tensors(2);
  const size_t directions = both ? 2 : 1, each = biases ? 4 : 2;
  const auto layers = static_cast<size_t>(of.integer(4));
  if (params.size() != layers * directions * each) {
    throw UserError("it has projections, or other weights than its layers ask for");
  }
  std::vector<Tensor> hidden, memory;
  for (size_t layer = 0; layer < layers; ++layer) {
    std::vector<Tensor> outputs;
    for (size_t direction = 0; direction < directions; ++direction) {
      const size_t at = layer * directions + direction;
      const auto param = [&](size_t i) { return params[at * each + i].cast(compute); };
      Weights weights{.from_input = param(0), .from_state = param(1)};
      if (biases) {
        weights.input_bias = param(2);
        weights.state_bias = param(3);
      }
      const auto place = static_cast<int64_t>(at);
      State state{.hidden = starts[0].select(0, place)};
      if (cell == Cell::Lstm) state.memory = starts[1].select(0, place);
      auto [output, last] = along_steps(cell, x, state, weights, direction == 1);
      outputs.push_back(output);
      hidden.push_back(last.hidden);
      if (last.memory) memory.push_back(*last.memory);
    }
    x = concat(outputs, 2);
  }
  if (of.flag(8)) x = x.transpose(0, 1);
  const auto given = [&](const std::vector<Tensor>& states) {
    const Tensor all = stack(states, 0).cast(dtype);
    return single ? all.squeeze(1) : all;
  };
  if (single) x = x.squeeze(of.flag(8) ? 0 : 1);
  Values results{x.cast(dtype), given(hidden)};
  if (cell == Cell::Lstm) results.emplace_back(given(memory));
  return results;
}

constexpr OpEntry kRecurrentOps[] = {
    {"aten.lstm.input",
     "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first",
     [](const Arguments& of) { return recurrent(of, Cell::Lstm); }},
    {"aten.gru.input",
     "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first",
     [](const Arguments& of) { return recurrent(of, Cell::Gru); }},
    {"aten.rnn_tanh.input",
     "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first",
     [](const Arguments& of) { return recurrent(of, Cell::Tanh); }},
    {"aten.rnn_relu.input",
     "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first",
     [](const Arguments& of) { return recurrent(of, Cell::Relu); }},
};

}  // namespace

std::span<const OpEntry> recurrent_ops() { return kRecurrentOps; }

}  // namespace luminal::pytorch
