#include "luminal/driver/bundle.h"

#include <fmt/format.h>

#include "luminal/backends/registry/registry.h"
#include "luminal/base/byte_stream.h"
#include "luminal/base/digest.h"
#include "luminal/base/errors.h"
#include "luminal/base/files/replace_file.h"
#include "luminal/base/files/seal.h"
#include "luminal/base/os/memory.h"
#include "luminal/base/source_fingerprint.h"
#include "luminal/driver/compile/compile_parts.h"
#include "luminal/driver/options/load_options.h"
#include "luminal/graph/text_form.h"

namespace luminal {
namespace {

constexpr std::string_view kBundleMagic = "luminal bundle 2";

constexpr const char* kWayOut = "make it again with this build";

[[noreturn]] void refuse(const std::string& why) {
  throw UserError(fmt::format("bundle: {}; {}", why, kWayOut));
}

// A bundle is code that will run, so only this user's own are loaded.
base::Secret own_secret() {
  const Result<base::Secret> secret = base::user_secret();
  if (!secret) {
    throw UserError(fmt::format(
        "bundle: the key that authenticates this user's bundles can't be read: {}", secret.why()));
  }
  return *secret;
}

void check_options(const BackendOptions& backend, const PlanOptions& plan) {
  if (!backends::find_backend(backend.name).runs_plans()) {
    throw UserError(fmt::format(
        "bundle: backend '{}' compiles nothing that could be saved; choose cpu", backend.name));
  }
  if (backend.library != LibraryPolicy::Never) {
    throw UserError("bundle: code of a library can't be saved; set library to 'never'");
  }
  if (!plan.variants.empty()) {
    throw UserError("bundle: only one plan can be saved; leave variants out");
  }
}

}  // namespace

std::string make_bundle(const Graph& graph, const CompileOptions& options) {
  check_options(options.backend, options.plan);
  // As it will be read: a plan names nodes by their ids.
  const std::string text = print_graph(graph);
  const std::unique_ptr<Graph> again = parse_graph(text, "bundle");
  CompiledParts parts;
  compile_parts(*again, options, {.made = &parts});
  base::ByteWriter out;
  out.text(kBundleMagic);
  out.text(base::format_fingerprint());
  out.text(
      fmt::format("{} ({})", base::library_version(), base::source_fingerprint().substr(0, 12)));
  out.text(options.backend.name);
  out.text(options.backend.target);
  out.integer(threads_of(options.backend));
  out.text(text);
  out.text(parts.plan);
  out.text(parts.code);
  return seal_bundle(out.bytes());
}

std::string seal_bundle(std::string_view content) {
  return fmt::format("{}{}{}", content, base::digest(content), base::seal(own_secret(), content));
}

LoadedBundle load_bundle(std::string_view bytes) {
  const size_t tail = seal_bundle("").size();
  if (bytes.size() < tail) refuse("it is too short to be a bundle");
  const std::string_view content = bytes.substr(0, bytes.size() - tail);
  try {
    base::ByteReader in(content);
    if (in.text() != kBundleMagic) refuse("this is not a bundle");
    const std::string digest = base::digest(content);
    if (!bytes.substr(content.size()).starts_with(digest)) refuse("it is damaged");
    if (bytes.substr(content.size() + digest.size()) != base::seal(own_secret(), content)) {
      refuse("another user or machine made it, and it holds machine code, which can't be checked");
    }
    const std::string_view format = in.text();
    std::string made_by(in.text());
    if (format != base::format_fingerprint()) {
      refuse(
          fmt::format("it was made by luminal {}, which wrote plans and code in another format "
                      "than this build, {} ({})",
                      made_by, base::library_version(), base::source_fingerprint().substr(0, 12)));
    }
    CompileOptions options;
    options.backend.name = in.text();
    options.backend.target = in.text();
    options.backend.threads = in.small();
    options.storage.cache_folder = "none";
    std::unique_ptr<Graph> graph = parse_graph(in.text(), "bundle");
    CompiledParts parts;
    parts.plan = in.text();
    parts.code = in.text();
    in.finish();
    Executable executable = compile_parts(*graph, options, {.given = &parts});
    return {std::move(graph), std::move(executable), std::move(made_by)};
  } catch (const base::ByteError& error) {
    refuse(error.what());
  }
}

void save_bundle(const std::string& path, const Graph& graph, const CompileOptions& options) {
  if (!base::replace_file(path, make_bundle(graph, options))) {
    throw UserError(fmt::format(
        "bundle: can't write '{}'; check that its folder is there, and the permissions", path));
  }
}

LoadedBundle open_bundle(const std::string& path) {
  const base::MappedFile file(path);
  // A copy: nobody can change it after its seal was checked.
  const std::string bytes(reinterpret_cast<const char*>(file.bytes().data()), file.size());
  return load_bundle(bytes);
}

}  // namespace luminal
