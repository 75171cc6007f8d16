#include "luminal/llm/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "luminal/base/errors.h"
#include "luminal/base/os/memory.h"
#include "luminal/graph/verify.h"

namespace luminal::llm {
namespace {

constexpr int64_t kMostUnasked = 4096;  // tokens of context that nobody asked for
// What a plan for prompts is made for: most are of this order, as many tokens before it, and longer
// ones want the same.
constexpr int64_t kTypicalPrompt = 128;
constexpr const char* kRoom = "room";  // the variable that is the context

void check_ids(const Model& model, std::span<const TokenId> ids) {
  const int64_t vocabulary = model.decoder().vocab_size;
  for (TokenId id : ids) {
    if (id >= 0 && id < vocabulary) continue;
    throw UserError(fmt::format("token {} isn't in the model's vocabulary of {}", id, vocabulary));
  }
}

}  // namespace

int64_t context_of(const Model& model, const SessionOptions& options) {
  const int64_t asked = options.context, most = model.decoder().context;
  if (asked == 0) return std::min(most, kMostUnasked);
  if (asked >= 1 && asked <= most) return asked;
  throw UserError(fmt::format("a context of {} tokens is too long: '{}' supports at most {}", asked,
                              model.path(), most));
}

void check_prompt(const Model& model, const SessionOptions& options, std::span<const TokenId> ids) {
  if (ids.empty()) throw UserError("a prompt needs at least one token");
  const auto length = static_cast<int64_t>(ids.size());
  const int64_t context = context_of(model, options), most = model.decoder().context;
  if (length > context) {
    throw UserError(fmt::format(
        "the prompt has {} tokens, the context has room for {}; {}", length, context,
        length <= most ? fmt::format("shorten it, or ask for a context of up to {}", most)
                       : fmt::format("shorten it: the model supports {} at most", most)));
  }
  check_ids(model, ids);
}

SessionForm session_form(const Model& model, const SessionOptions& options) {
  context_of(model, options);
  // All of it holds for any context that is asked for, so that one plan serves them all.
  const int64_t most = model.decoder().context, chunk = std::min(options.chunk, most);
  if (chunk < 1) {
    throw UserError(
        fmt::format("the chunk size is {} tokens; it must be at least 1", options.chunk));
  }
  SessionForm form{.decoder = {.room = Expr::var(kRoom, 1, most),
                               .longest_chunk = chunk,
                               .cache = options.dtype},
                   .compile = options.compile};
  form.compile.plan.variants.clear();
  form.compile.plan.typical_sizes = {{kRoom, std::min(most, kMostUnasked)}};
  if (chunk > 1) {
    const int64_t typical = std::min(chunk, kTypicalPrompt);
    form.compile.plan.variants = {{"s", {1}}};
    form.compile.plan.typical_sizes.set("s", typical);
    // Both fit in together.
    form.compile.plan.typical_sizes.set("past", std::min(kTypicalPrompt, most - typical));
  }
  return form;
}

struct Session::Impl {
  Impl(const Model& of, const SessionOptions& options)
      : Impl(of, options, session_form(of, options)) {}

  Impl(const Model& of, const SessionOptions& options, const SessionForm& form)
      : model(of),
        context(context_of(of, options)),
        chunk(form.decoder.longest_chunk),
        decoder(model.build(graph, options.dtype, form.decoder)),
        exe(compiled(form.compile)) {
    find_variables();
    measure_leaves();
  }

  Executable compiled(const CompileOptions& options) {
    const auto start = std::chrono::steady_clock::now();
    compile_options = options;
    Executable made = compile(graph, compile_options);
    compile_options.report = nullptr;  // the caller's, and may be gone by now
    compile_options.progress = nullptr;
    compile_options.inspect = {};
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    compile_seconds = taken.count();
    return made;
  }

  void find_variables() {
    for (Expr variable : variables(graph)) {
      has_past = has_past || variable.name() == "past";
      has_room = has_room || variable.name() == kRoom;
    }
  }

  void measure_leaves() {
    const std::string& table = model.decoder().lookup_table;
    for (NodeId leaf : graph.leaves()) {
      const Node& node = graph.node(leaf);
      const auto& attr = node.as<InputAttr>();
      const Expr::Value count = n_elements(node.dims).evaluate({{kRoom, context}});
      if (!count.value) continue;
      const int64_t bytes = byte_size(node.dtype, *count.value);
      if (attr.role == Role::State) cache_bytes += bytes;
      // A quantised table's planes have its name and a part's.
      const bool looked_up = !table.empty() && attr.name.starts_with(table);
      if (attr.role == Role::Weight && !looked_up) weight_bytes += bytes;
    }
  }

  Bindings sizes_of_run(int64_t tokens) const {
    Bindings sizes{{"s", tokens}};
    if (has_past) sizes.set("past", static_cast<int64_t>(held.size()));
    if (has_room) sizes.set(kRoom, context);
    return sizes;
  }

  // Runs the tokens after those held.
  void feed(std::span<const TokenId> more) {
    while (!more.empty()) {
      const auto piece = more.first(std::min(more.size(), static_cast<size_t>(chunk)));
      exe.set(decoder.ids, piece);
      exe.run(sizes_of_run(static_cast<int64_t>(piece.size())), {.trace = trace});
      held.insert(held.end(), piece.begin(), piece.end());
      more = more.subspan(piece.size());
      // What a plan keeps of weights in a form of its own is made by its first run.
      bool& ran = piece.size() == 1 ? ran_step : ran_prompt;
      if (!std::exchange(ran, true)) {
        exe.release_folded();
        base::return_freed_memory();
      }
    }
    logits = exe.get<float>(decoder.logits);
  }

  Model model;
  int64_t context;
  int64_t chunk;
  Graph graph;
  DecoderGraph decoder;
  // Whether the graph has these variables: that of a model without a cache hasn't.
  bool has_past = false;
  bool has_room = false;
  CompileOptions compile_options;
  double compile_seconds = 0;
  Executable exe;
  int64_t weight_bytes = 0;
  int64_t cache_bytes = 0;
  int64_t reused = 0;
  Trace* trace = nullptr;
  bool ran_step = false;
  bool ran_prompt = false;
  std::vector<TokenId> held;
  std::vector<float> logits;
};

Session::Session(const Model& model, const SessionOptions& options)
    : impl_(std::make_unique<Impl>(model, options)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

std::span<const float> Session::prompt(std::span<const TokenId> ids) {
  check_prompt(impl_->model, {.context = impl_->context}, ids);
  const auto length = static_cast<int64_t>(ids.size());
  std::vector<TokenId>& held = impl_->held;
  const auto [mine, theirs] = std::mismatch(held.begin(), held.end(), ids.begin(), ids.end());
  // The last token is always run: its logits are asked for.
  impl_->reused = std::min<int64_t>(mine - held.begin(), length - 1);
  held.resize(static_cast<size_t>(impl_->reused));
  impl_->feed(ids.subspan(held.size()));
  return impl_->logits;
}

std::span<const float> Session::add(TokenId id) {
  if (full()) {
    throw UserError(fmt::format(
        "the context of {} tokens is full; rewind it, or ask for a larger one", impl_->context));
  }
  check_ids(impl_->model, {&id, 1});
  impl_->feed({&id, 1});
  return impl_->logits;
}

void Session::rewind(int64_t length) {
  const auto held = static_cast<int64_t>(impl_->held.size());
  if (length < 0 || length > held) {
    throw UserError(fmt::format("can't rewind to {} tokens: the cache holds {}", length, held));
  }
  impl_->held.resize(static_cast<size_t>(length));
}

void Session::set_trace(Trace* trace) { impl_->trace = trace; }

const Model& Session::model() const { return impl_->model; }
const std::vector<TokenId>& Session::ids() const { return impl_->held; }
int64_t Session::context() const { return impl_->context; }
const Graph& Session::graph() const { return impl_->graph; }
const CompileOptions& Session::compile_options() const { return impl_->compile_options; }
double Session::compile_seconds() const { return impl_->compile_seconds; }
int64_t Session::weight_bytes() const { return impl_->weight_bytes; }
int64_t Session::cache_bytes(int64_t past) const {
  return impl_->cache_bytes / impl_->context * past;
}
int64_t Session::reused() const { return impl_->reused; }

}  // namespace luminal::llm
