#include "client/generated_code.h"

#include <algorithm>

#include "client/compiler.h"
#include "client/nvcc.h"
#include "client/places.h"

namespace sous::client {

using std::string;
using Words = std::vector<string>;

Words generated_options(const GeneratedBuild& build, const targets::File& file) {
  Words out(file.language->options.begin(), file.language->options.end());
  out.push_back("-I" + runtime_include_path());
  const bool gcc = is_gcc(build.compiler);
  // What becomes of the user's C. gcc contracts across expressions ("fast") where it contracts at all.
  const bool everywhere = build.contraction == Contraction::Everywhere || gcc;
  out.emplace_back(build.contraction == Contraction::Off ? "-ffp-contract=off"
                   : everywhere                          ? "-ffp-contract=fast"
                                                         : "-ffp-contract=on");
  // targets/runtime/highway.h says why. What leave to reorder gives the nest, it has.
  if (file.text.contains("#define SOUS_HIGHWAY_MATH")) out.emplace_back("-fno-associative-math");
  for (const auto* runtime : file.runtimes) out.emplace_back(runtime->option);
  if (gcc) {
    out.emplace_back("-fno-gnu-unique");  // a shared library with it can be unloaded
    // What gcc knows of the registers of functions of the file, it takes for what it knows of their upper halves: where
    // one that has no vectors is called last, it returns without vzeroupper, and what follows in SSE or in libm takes
    // ten to fifty times as long.
    out.emplace_back("-fno-ipa-ra");
  }
  if (file.language->compiler != targets::LanguageCompiler::Nvcc)
    for (const string& option : aligned_loops(build.compiler, build.flags)) out.push_back(option);
  return out;
}

Words runtime_macros(const CommandLine& line) {
  Words out;
  for (std::size_t k = 0; k < line.preprocess.size(); ++k) {
    const bool apart = line.preprocess[k] == "-D" && k + 1 < line.preprocess.size();
    const string macro = apart ? "-D" + line.preprocess[++k] : line.preprocess[k];
    if (macro.starts_with("-DSOUS_")) out.push_back(macro);
  }
  return out;
}

Result<Words> compile_generated(const std::vector<targets::File>& files, const GeneratedBuild& build,
                                const TemporaryFolder& folder, const string& stem) {
  Words objects;
  for (const targets::File& file : files) {
    const string source = folder.file(stem + "." + string(file.language->suffix)), object = source + ".o";
    TRY_VOID(write_file(source, file.text));
    if (file.language->compiler == targets::LanguageCompiler::Nvcc) {
      TRY_VOID(compile_cuda(source, object, *file.language, build));
      objects.push_back(object);
      continue;
    }
    Words command{build.compiler};
    command.insert(command.end(), build.flags.begin(), build.flags.end());
    const Words options = generated_options(build, file);
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"-c", source, "-o", object});
    TRY(const auto finished, run(command, {.capture_output = true, .capture_errors = true}));
    if (finished.status != 0) {
      return fail(string(build.refusal), "the generated code does not compile: " + first_error(finished.errors));
    }
    objects.push_back(object);
  }
  return objects;
}

std::vector<const targets::Runtime*> runtimes_of(const std::vector<targets::File>& files) {
  std::vector<const targets::Runtime*> out;
  for (const targets::File& file : files) {
    for (const auto* runtime : file.runtimes) {
      if (std::ranges::find(out, runtime) == out.end()) out.push_back(runtime);
    }
  }
  return out;
}

Result<void> weaken_runtimes(const std::vector<targets::File>& files, const Words& objects, const CommandLine& line,
                             std::string_view refusal) {
  for (const auto* runtime : runtimes_of(files)) {
    if (line.gives(runtime->option)) continue;
    Words weaken{"objcopy", "--wildcard"};
    for (const auto symbol : runtime->symbols) weaken.push_back("--weaken-symbol=" + string(symbol));
    for (const string& object : objects) {
      Words command = weaken;
      command.push_back(object);
      TRY(const auto weak, run(command, {.capture_output = true, .capture_errors = true}));
      if (weak.status != 0) return fail(string(refusal), "objcopy: " + first_error(weak.errors));
    }
  }
  return {};
}

Words link_options(const std::vector<targets::File>& files) {
  Words out;
  for (const auto* runtime : runtimes_of(files)) out.emplace_back(runtime->option);
  return out;
}

Result<void> link_generated(const std::vector<targets::File>& files, const Words& objects, const GeneratedBuild& build,
                            Words what, const string& output) {
  what.insert(what.begin(), build.compiler);
  what.insert(what.end(), objects.begin(), objects.end());
  what.insert(what.end(), {"-o", output, "-lm"});
  for (const string& option : link_options(files)) what.push_back(option);
  TRY(const auto linked, run(what, {.capture_output = true, .capture_errors = true}));
  if (linked.status != 0) return fail(string(build.refusal), "it does not build: " + first_error(linked.errors));
  return {};
}

}  // namespace sous::client
