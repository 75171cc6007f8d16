// What may be used from several threads at once: compiles, clones of an executable, sessions, and
// the tables they all share. ThreadSanitizer (preset `tsan`) runs this; without it the test says
// that results are right. Generated code isn't instrumented, all that calls it is.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "luminal/io/safetensors.h"
#include "luminal/llm/models/llama/llama.h"
#include "luminal/llm/session.h"
#include "luminal/luminal.h"
#include "luminal/nn/scope.h"
#include "tests/io/temporary_folder.h"

namespace luminal {
namespace {

constexpr int kThreads = 8;

// The same function on every thread, with the thread's number.
template <typename Work>
void at_once(int count, const Work& work) {
  std::vector<std::thread> threads;
  std::atomic<int> waiting{count};
  for (int k = 0; k < count; ++k) {
    threads.emplace_back([&, k] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      work(k);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Row sums of sigmoid(x · w): several kernels, a reduction and a dynamic dim.
struct Rows {
  explicit Rows(int64_t width) {
    const Expr s = Expr::var("s", 0, 64);
    x = graph.input("x", {s, width});
    w = graph.weight("w", {width, 24});
    w.set(std::vector<float>(static_cast<size_t>(width) * 24, 0.125f));
    y = sum(sigmoid(matmul(x, w)), {1}).output("y");
  }

  std::vector<float> run(Executable& executable, int64_t rows) const {
    const auto width = static_cast<size_t>(*x.dims()[1].to_int());
    std::vector<float> values(static_cast<size_t>(rows) * width);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 11) * 0.1f;
    executable.set(x, values);
    executable.run({{"s", rows}});
    return executable.get<float>(y);
  }

  Graph graph;
  Tensor x, w, y;
};

TEST(ThreadSafety, ExpressionsAreInternedByAllThreads) {
  std::vector<std::vector<Expr>> made(kThreads);
  at_once(kThreads, [&](int k) {
    const Expr s = Expr::var("s"), i = Expr::index(0, s);
    for (int64_t n = 1; n < 400; ++n) {
      made[static_cast<size_t>(k)].push_back((i * n + s / (n + 1)) % (n + 7) + min(i, n));
    }
  });
  for (const std::vector<Expr>& other : made) EXPECT_TRUE(other == made[0]);
}

TEST(ThreadSafety, GraphsCompileAtOnceAlsoTheSameOne) {
  TemporaryFolder cache;
  const Rows shared(16);
  std::vector<std::vector<float>> results(kThreads);
  at_once(kThreads, [&](int k) {
    CompileReport report;
    Executable same =
        compile(shared.graph, {.storage = {.cache_folder = cache.path()}, .report = &report});
    results[static_cast<size_t>(k)] = shared.run(same, 5);
    const Rows own(8 + k);
    Executable other =
        compile(own.graph, {.backend = {.threads = 2}, .storage = {.cache_folder = cache.path()}});
    EXPECT_EQ(own.run(other, 3).size(), 3u);
  });
  for (const std::vector<float>& result : results) EXPECT_EQ(result, results[0]);
}

TEST(ThreadSafety, ClonesRunAtOnce) {
  const Rows rows(32);
  const Executable first =
      compile(rows.graph, {.backend = {.threads = 1}, .storage = {.cache_folder = "none"}});
  Executable reference = first.clone();
  const std::vector<float> expected = rows.run(reference, 7);
  at_once(kThreads, [&](int k) {
    Executable own = first.clone();
    for (int64_t run = 0; run < 40; ++run) {
      EXPECT_EQ(rows.run(own, 7), expected);
      rows.run(own, (run + k) % 9);
    }
  });
}

TEST(ThreadSafety, ClonesWithThreadsOfTheirOwnRunAtOnce) {
  const Rows rows(48);
  const Executable first =
      compile(rows.graph, {.backend = {.threads = 2}, .storage = {.cache_folder = "none"}});
  Executable reference = first.clone();
  const std::vector<float> expected = rows.run(reference, 64);
  at_once(4, [&](int) {
    Executable own = first.clone();
    for (int run = 0; run < 10; ++run) EXPECT_EQ(rows.run(own, 64), expected);
  });
}

TEST(ThreadSafety, ClonesWriteToMemoryOfTheirCallers) {
  const Rows rows(16);
  const Executable first =
      compile(rows.graph, {.backend = {.threads = 1}, .storage = {.cache_folder = "none"}});
  Executable reference = first.clone();
  const std::vector<float> expected = rows.run(reference, 64);
  std::vector<std::vector<float>> memory(kThreads, std::vector<float>(64));
  at_once(kThreads, [&](int k) {
    Executable own = first.clone();
    own.bind_output("y", memory[static_cast<size_t>(k)]);
    for (int run = 0; run < 10; ++run) rows.run(own, 64);
  });
  for (const std::vector<float>& result : memory) EXPECT_EQ(result, expected);
}

// A Llama of one layer with random weights, as a folder.
void write_model(const std::string& folder) {
  std::ofstream(folder + "/config.json")
      << R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 32,
             "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1,
             "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
             "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
             "hidden_act": "silu", "tie_word_embeddings": true, "torch_dtype": "float32"})";
  std::string vocabulary;
  for (int id = 0; id < 32; ++id) {
    if (id > 0) vocabulary += ", ";
    vocabulary += "\"" + std::string(1, static_cast<char>('A' + id % 26)) + (id < 26 ? "" : "x") +
                  "\": " + std::to_string(id);
  }
  std::ofstream(folder + "/tokenizer.json")
      << R"({"version": "1.0", "added_tokens": [], "normalizer": null, "pre_tokenizer": null,
             "post_processor": null, "decoder": null,
             "model": {"type": "BPE", "vocab": {)"
      << vocabulary << R"(}, "merges": []}})";
  llm::LlamaConfig config;
  config.vocab_size = 32;
  config.features = 32;
  config.hidden = 48;
  config.layers = 1;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_size = 8;
  config.context = 64;
  config.tied = true;
  Graph graph;
  llm::build_llama(nn::Scope(graph), config);
  std::mt19937 random(3);
  std::vector<NamedData> tensors;
  for (NodeId leaf : graph.leaves()) {
    const Node& node = graph.node(leaf);
    if (node.as<InputAttr>().role != Role::Weight) continue;
    std::vector<int64_t> dims;
    for (Expr dim : node.dims) dims.push_back(*dim.to_int());
    std::vector<float> values(static_cast<size_t>(*n_elements(node.dims).to_int()));
    for (float& value : values) value = std::normal_distribution<float>(0, 0.3f)(random);
    tensors.push_back(
        {node.as<InputAttr>().name, TensorData::copy_of(std::span<const float>(values), dims)});
  }
  write_safetensors(folder + "/model.safetensors", tensors);
}

TEST(ThreadSafety, SessionsOfOneModelRunAtOnce) {
  TemporaryFolder folder;
  write_model(folder.path());
  const llm::Model model = llm::Model::open(folder.path());
  const std::vector<TokenId> text = {1, 7, 3, 30, 12};
  std::vector<std::vector<float>> results(4);
  at_once(4, [&](int k) {
    llm::Session session(model, {.context = 32,
                                 .compile = {.backend = {.threads = 1},
                                             .storage = {.cache_folder = folder.path()}}});
    session.prompt(text);
    for (TokenId id : {4, 9, 2}) {
      const auto logits = session.add(id);
      results[static_cast<size_t>(k)].assign(logits.begin(), logits.end());
    }
  });
  for (const std::vector<float>& result : results) EXPECT_EQ(result, results[0]);
}

}  // namespace
}  // namespace luminal
