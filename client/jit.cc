#include "client/jit.h"

#include <dlfcn.h>

#include "client/compiler.h"
#include "client/generated_code.h"
#include "sdfg/check.h"

namespace sous::client {
namespace {

using std::string;

struct Emitted {
  targets::Function function;
  string caller;  // exported
};

Emitted with_caller(targets::Function function, const sdfg::Sdfg& sdfg, const string& entry) {
  const string caller = entry + "_caller";
  function.code += "\n" + function.target->language->caller(sdfg, entry, caller);
  return {std::move(function), caller};
}

// The shared library's handle. Errors: those of `compile`.
Result<void*> load(const std::vector<Emitted>& emitted, const Meaning& meaning) {
  std::vector<targets::Function> functions;
  for (const auto& one : emitted) functions.push_back(one.function);
  const auto files = targets::files(functions, "compiled to be called");
  GeneratedBuild build{.compiler = meaning.compiler,
                       .flags = meaning.cpp_code,
                       .contraction = meaning.contraction,
                       .refusal = "jit.compile"};
  build.flags.insert(build.flags.end(), {"-fPIC", "-DSOUS_LOADED"});
  TRY(const auto folder, TemporaryFolder::make());
  TRY(const auto objects, compile_generated(files, build, folder, "nest"));
  const string library = folder.file("nest.so");
  TRY_VOID(link_generated(files, objects, build, {"-shared"}, library));
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return fail("jit.load", ::dlerror());
  return handle;
}

}  // namespace

Result<LoadedFunction> compile(const sdfg::Sdfg& sdfg, const JitOptions& options) {
  TRY_VOID(sdfg::check(sdfg));
  const frontends::LiftedNest lifted = frontends::lifted_from(sdfg, options.sizes);
  LoadedFunction out;
  out.arguments_ = sdfg.arguments.size();
  std::vector<Emitted> emitted;
  if (options.open_sources) {
    const Lift lift = [&] { return frontends::TranslationUnit{.nests = {lifted}, .reasons = {}}; };
    TRY(auto outcome,
        optimize(lift, sdfg.name, options.meaning, {}, options.open_sources, &tuning_db::shipped_gain_model));
    out.report_ = std::move(outcome.report.nests.at(0));
    for (auto& served : outcome.served)
      emitted.push_back(with_caller(std::move(served.code), served.sdfg, served.replacement.function));
  } else {
    out.report_.why = "no sources of recipes";
  }
  targets::EmitOptions plain = emit_options(options.meaning);
  plain.function = "sous_plain";
  TRY(auto code, targets::cpp_target.emit(sdfg, plain));
  emitted.push_back(with_caller(std::move(code), sdfg, plain.function));

  TRY(void* const handle, load(emitted, options.meaning));
  for (const auto& one : emitted) {
    void* const address = ::dlsym(handle, one.caller.c_str());
    if (address == nullptr) return fail("jit.load", ::dlerror());
    out.entries_.push_back(reinterpret_cast<LoadedFunction::Entry>(address));
  }
  return out;
}

Result<void> LoadedFunction::operator()(std::span<void* const> arguments) const {
  if (arguments.size() != arguments_) {
    return fail("jit.arguments",
                "it takes " + std::to_string(arguments_) + " arguments, not " + std::to_string(arguments.size()));
  }
  for (const Entry entry : entries_) {
    if (entry(arguments.data()) != 0) return {};
  }
  return fail("jit.declined", "an assumption does not hold, arrays overlap, or there is no memory");
}

}  // namespace sous::client
