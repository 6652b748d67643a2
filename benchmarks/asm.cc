// `sous bench asm KERNEL` (or FILE.c, FILE.o): the hot loops of a program built through Sous, with counts.
#include <algorithm>
#include <cstdio>

#include "benchmarks/bench.h"
#include "benchmarks/build.h"
#include "benchmarks/disassembly.h"
#include "benchmarks/table.h"
#include "client/command_line.h"
#include "client/process.h"

namespace sous::benchmarks {
namespace {

using std::string;

constexpr std::size_t loops_in_table = 12;

// What to look at: a program of the suite, or a C file of the user's, as an object or program in `folder`; or an object
// that is there.
struct Target {
  string label, path;
};
Result<Target> compile(const Options& options, const client::TemporaryFolder& folder) {
  const string& name = options.words[1];
  if (name.ends_with(".o")) return Target{name, name};
  const Words flags = client::split_words(options.flags);
  if (name.ends_with(".c")) {
    Words command = sous_over_clang().command;
    command.insert(command.end(), flags.begin(), flags.end());
    command.insert(command.end(), {"-c", name, "-o", folder.file("object.o")});
    TRY(const auto finished, client::run(command));
    if (finished.status != 0) return fail("bench.build", "the compiler's message is above", name);
    return Target{name, folder.file("object.o")};
  }
  TRY(const Suite suite, read_suite("polybench"));
  TRY(const auto programs, select(suite, name));
  TRY(const auto tests, cases(suite, programs, options.sizes.empty() ? Words{"LARGE"} : options.sizes, options.types));
  TRY(const auto built, build(suite, tests[0], sous_over_clang(), flags, folder.file(tests[0].program.name)));
  return Target{tests[0].label(), built.binary};
}

}  // namespace

Result<int> bench_asm(const Options& options) {
  if (options.words.size() != 2) {
    return fail("cli.value", "one program is wanted: sous bench asm KERNEL, FILE.c or FILE.o");
  }
  TRY(const auto folder, client::TemporaryFolder::make());
  TRY(const auto target, compile(options, folder));
  client::RunOptions capture;
  capture.capture_output = true;
  TRY(const auto dump, client::run({"objdump", "-d", "--no-show-raw-insn", target.path}, capture));
  if (dump.status != 0) return fail("bench.run", "objdump ended with status " + std::to_string(dump.status));
  auto loops = innermost_loops(dump.output);
  const auto is_other = [](const Loop& loop) { return generated_name(loop.function).empty(); };
  if (!std::ranges::all_of(loops, is_other)) {
    std::erase_if(loops, is_other);
    for (Loop& loop : loops) loop.function = generated_name(loop.function);
  } else {
    std::printf("Nothing was generated for %s: these are the compiler's own loops.\n", target.label.c_str());
  }
  if (loops.empty()) {
    std::printf("no loop\n");
    return 0;
  }
  Table table({"function", "address", "instructions", "vector fma", "scalar fma", "other vector", "loads", "stores",
               "spills", "gathers", "divisions"});
  for (std::size_t l = 0; l < std::min(loops.size(), loops_in_table); ++l) {
    const LoopCounts& c = loops[l].counts;
    char address[32];
    std::snprintf(address, sizeof address, "%llx", static_cast<unsigned long long>(loops[l].body[0].address));
    std::vector<string> row{loops[l].function, address};
    for (const int n : {c.instructions, c.vector_fma, c.scalar_fma, c.vector_arithmetic, c.loads, c.stores, c.spills,
                        c.gathers, c.divisions}) {
      row.push_back(std::to_string(n));
    }
    table.add(std::move(row));
  }
  std::printf("%s, %zu innermost loops\n%s\nThe first of them:\n", target.label.c_str(), loops.size(),
              table.to_string().c_str());
  for (const auto& instruction : loops[0].body) {
    std::printf("  %6llx  %s\n", static_cast<unsigned long long>(instruction.address), instruction.text.c_str());
  }
  return 0;
}

}  // namespace sous::benchmarks
