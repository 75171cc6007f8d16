#include "luminal/backends/cpu/llvm/jit.h"

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SHA256.h>
#include <llvm/Support/raw_ostream.h>

#include <chrono>
#include <map>
#include <mutex>

#include "luminal/backends/cpu/llvm/emit_kernel.h"
#include "luminal/backends/cpu/llvm/jit_session.h"
#include "luminal/backends/cpu/math/shared_math.h"
#include "luminal/base/check.h"
#include "luminal/base/digest.h"
#include "luminal/base/errors.h"
#include "luminal/base/source_fingerprint.h"

namespace luminal::backends::cpu {
namespace {

// The module and the context it lives in.
struct Emitted {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

Emitted emit(const CodeGenerator& generator, const Schedule& schedule, const EmitOptions& options) {
  Emitted emitted{.context = std::make_unique<llvm::LLVMContext>(), .module = nullptr};
  emitted.module = emit_kernel(*emitted.context, schedule, generator.target(), options);
  generator.prepare(*emitted.module);
  std::string why;
  llvm::raw_string_ostream stream(why);
  const bool broken = llvm::verifyModule(*emitted.module, &stream);
  LUMINAL_CHECK(!broken, "the emitted IR is not valid: " + why + kernel::text(*schedule.kernel));
  return emitted;
}

// A hash of everything that determines the object: the unoptimised IR, and how it is compiled.
std::string cache_key(const llvm::Module& module, const CodeGenerator& generator) {
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  llvm::SHA256 hash;
  hash.update(generator.fingerprint());
  hash.update(llvm::StringRef(bitcode.data(), bitcode.size()));
  std::string key;
  for (uint8_t byte : hash.final()) {
    key += "0123456789abcdef"[byte >> 4];
    key += "0123456789abcdef"[byte & 15];
  }
  return key;
}

// All fields of a target: emitted code also depends on what the system lets a process use (AMX).
// The structured binding makes a new field a compile error until it is added here.
std::string text_of(const Target& target) {
  const auto& [name, triple, cpu, features, vector_bytes, x86, avx512, avx512_bf16, avx512_vnni,
               amx_bf16, amx_int8] = target;
  std::string text = name + " " + triple + " " + cpu + " " + features;
  for (int figure : {vector_bytes, int{x86}, int{avx512}, int{avx512_bf16}, int{avx512_vnni},
                     int{amx_bf16}, int{amx_int8}}) {
    text += " " + std::to_string(figure);
  }
  return text;
}

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

CompiledKernel::CompiledKernel(const kernel::Kernel& kernel, const Target& target,
                               const EmitOptions& options)
    : kernel_(kernel),
      options_(options),
      schedule_(make_schedule(kernel_, target, options_)),
      form_(launch_form(*schedule_, options_)) {}

CompiledKernel::CompiledKernel(const kernel::Kernel& kernel, const LaunchForm& form)
    : kernel_(kernel), form_(form) {}

std::string CompiledKernel::llvm_ir() const {
  Emitted emitted = emit(session_->generator(), schedule(), options_);
  session_->generator().optimize(*emitted.module);
  std::string text;
  llvm::raw_string_ostream stream(text);
  emitted.module->print(stream, nullptr);
  return text;
}

std::string CompiledKernel::assembly() const {
  Emitted emitted = emit(session_->generator(), schedule(), options_);
  session_->generator().optimize(*emitted.module);
  return session_->generator().to_assembly(*emitted.module);
}

std::string compile_for(const Target& target, const kernel::Kernel& kernel, CodeForm form,
                        const EmitOptions& options) {
  CodeGenerator generator(target);
  const Schedule schedule = make_schedule(kernel, target, options);
  Emitted emitted = emit(generator, schedule, options);
  // Without a Jit to resolve them, the functions that it calls are defined in the module.
  for (llvm::Function& function : *emitted.module) {
    if (function.isDeclaration()) define_math(function, target);
  }
  generator.optimize(*emitted.module);
  return form == CodeForm::Assembly ? generator.to_assembly(*emitted.module)
                                    : generator.to_object(*emitted.module);
}

struct Jit::Impl {
  explicit Impl(const Options& options)
      : session(std::make_shared<JitSession>(options.target)),
        keep_objects(options.keep_objects),
        cache(options.cache_folder, base::kCachedKernels, options.cache_bytes),
        names(options.cache_folder, base::kCachedNames, options.cache_bytes) {}

  // An object, and the key it was looked up by.
  struct Found {
    std::optional<std::string> object = {};
    std::string key = {};
  };

  // Looks up a kernel by its text, so that no IR need be emitted to find an object that this same
  // compiler made before. An entry holds the object's key and the whole `question`, which is
  // compared: its hash only names the file.
  Found find_by_name(const std::string& question) {
    Found found;
    const std::string entry = names.find(base::digest(question)).value_or("");
    if (!entry.ends_with(question)) return found;
    found.key = entry.substr(0, entry.size() - question.size());
    if (base::FileCache::is_key(found.key)) found.object = cache.find(found.key);
    return found;
  }

  // Emits the kernel, compiles it unless the object is in the cache, and stores its key by name.
  // The object under the key `tried` was already found to be missing.
  Found make_object(const CompiledKernel& kernel, const std::string& question,
                    const std::string& tried, bool& from_cache) {
    CodeGenerator& generator = session->generator();
    Emitted emitted = emit(generator, kernel.schedule(), kernel.options());
    Found made{.object = {}, .key = cache_key(*emitted.module, generator)};
    if (made.key != tried) made.object = cache.find(made.key);
    from_cache = made.object.has_value();
    if (!made.object) {
      generator.optimize(*emitted.module);
      made.object = generator.to_object(*emitted.module);
      cache.store(made.key, *made.object);
    }
    names.store(base::digest(question), made.key + question);
    return made;
  }

  std::shared_ptr<JitSession> session;
  bool keep_objects;
  base::FileCache cache;  // objects, by the hash of their IR
  base::FileCache names;  // keys of objects, by the text of their kernels
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<const CompiledKernel>> kernels;  // by text and options
};

Jit::Jit(Options options) : impl_(std::make_unique<Impl>(options)) {}
Jit::~Jit() = default;

const Target& Jit::target() const { return impl_->session->generator().target(); }
base::FileCache::Counters Jit::cache_counters() const { return impl_->cache.counters(); }

std::vector<std::string> Jit::cache_notes() const {
  // Both use the same folder, so problems with it are reported only once.
  std::vector<std::string> notes = impl_->cache.notes();
  return notes.empty() ? impl_->names.notes() : notes;
}

std::string kernel_name(const kernel::Kernel& kernel, const EmitOptions& options) {
  return kernel::text(kernel) +
         "\nnontemporal_stores=" + std::to_string(options.nontemporal_stores) + " strategy=" +
         std::string(text(options.strategy.value_or(kernel::default_strategy(kernel)))) +
         " schedule=" + text(options.choices) + " contract=" + std::to_string(options.contract) +
         " look_at_rows=" + std::to_string(options.look_at_rows);
}

std::shared_ptr<const CompiledKernel> Jit::compile(const kernel::Kernel& kernel,
                                                   const EmitOptions& options) {
  const std::string name = kernel_name(kernel, options);
  {
    std::lock_guard lock(impl_->mutex);
    if (auto found = impl_->kernels.find(name); found != impl_->kernels.end()) {
      if (auto known = found->second.lock()) return known;
    }
  }
  const auto start = std::chrono::steady_clock::now();
  JitSession& session = *impl_->session;
  CodeGenerator& generator = session.generator();
  std::shared_ptr<CompiledKernel> compiled(new CompiledKernel(kernel, generator.target(), options));
  const std::string question = name + "\n" + text_of(generator.target()) + "\n" +
                               generator.fingerprint() + "\n" +
                               std::string(base::code_fingerprint());
  Impl::Found found = impl_->find_by_name(question);
  compiled->from_cache_ = found.object.has_value();
  if (!found.object) {
    found = impl_->make_object(*compiled, question, found.key, compiled->from_cache_);
  }
  compiled->session_ = impl_->session;
  compiled->code_ = session.load(*found.object);
  compiled->function_ = reinterpret_cast<CompiledKernel::Function>(compiled->code_->address());
  if (impl_->keep_objects) compiled->object_ = std::move(*found.object);
  compiled->compile_ms_ = ms_since(start);
  std::lock_guard lock(impl_->mutex);
  auto& slot = impl_->kernels[name];
  // If two threads compiled the same kernel, the first result is kept.
  if (auto known = slot.lock()) return known;
  slot = compiled;
  return compiled;
}

std::shared_ptr<const CompiledKernel> Jit::load(const kernel::Kernel& kernel,
                                                const LaunchForm& form, std::string_view object) {
  const auto start = std::chrono::steady_clock::now();
  std::shared_ptr<CompiledKernel> loaded(new CompiledKernel(kernel, form));
  loaded->session_ = impl_->session;
  try {
    loaded->code_ = impl_->session->load(object);
  } catch (const InternalError& error) {
    // The code calls a host function that this build lacks, or the bytes aren't an object file.
    throw UserError(std::string("saved code can't be linked by this build: ") + error.what() +
                    "; compile it again");
  }
  loaded->function_ = reinterpret_cast<CompiledKernel::Function>(loaded->code_->address());
  if (impl_->keep_objects) loaded->object_ = object;
  loaded->compile_ms_ = ms_since(start);
  loaded->from_cache_ = true;
  return loaded;
}

}  // namespace luminal::backends::cpu
