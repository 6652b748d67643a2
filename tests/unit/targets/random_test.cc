// Random nests: every target gives the interpreter's bytes.
#include "tests/support/random.h"

#include <cstring>

#include "tests/unit/targets/emitting.h"

namespace sous::targets {
namespace {

// Do the two memories agree? Bytes, but a NaN is any NaN: which one an operation returns is left open.
bool same_values(const sdfg::Buffer& a, const sdfg::Buffer& b) {
  if (a == b) return true;
  if (!sdfg::is_float(a.type) || a.bytes.size() != b.bytes.size()) return false;
  const auto size = static_cast<std::size_t>(sdfg::info(a.type).bytes);
  for (std::size_t at = 0; at < a.bytes.size(); at += size) {
    if (std::memcmp(&a.bytes[at], &b.bytes[at], size) == 0) continue;
    const auto value = [&](const sdfg::Buffer& buffer) {
      if (size == 8) {
        double x;
        std::memcpy(&x, &buffer.bytes[at], 8);
        return x;
      }
      float x;
      std::memcpy(&x, &buffer.bytes[at], 4);
      return static_cast<double>(x);
    };
    if (value(a) == value(a) || value(b) == value(b)) return false;
  }
  return true;
}

// The graph with so many lanes in every Simd loop that leaves their number open.
sdfg::Region with_lanes(sdfg::Region region, int lanes) {
  for (sdfg::Node& node : region.nodes) {
    match(
        node.value, [](sdfg::State&) {},
        [&](sdfg::Loop& loop) {
          loop.body = with_lanes(std::move(loop.body), lanes);
          if (auto* simd = std::get_if<sdfg::Simd>(&loop.schedule); simd && simd->lanes == 0) simd->lanes = lanes;
        },
        [&](sdfg::If& branch) {
          branch.then_body = with_lanes(std::move(branch.then_body), lanes);
          branch.else_body = with_lanes(std::move(branch.else_body), lanes);
        },
        [&](sdfg::While& loop) { loop.body = with_lanes(std::move(loop.body), lanes); });
  }
  return region;
}

// Runs the interpreter, and says whether the graph's schedules are right for these data and vectors of any length (the
// generator tries them on others).
bool interpreted(const sdfg::Sdfg& graph, sdfg::Memory& memory) {
  const sdfg::Memory before = memory;
  if (!sdfg::interpret(graph, memory)) return false;
  for (const int lanes : {2, 4, 8}) {
    sdfg::Sdfg variant = graph;
    variant.root = with_lanes(std::move(variant.root), lanes);
    sdfg::Memory again = before;
    if (!sdfg::interpret(variant, again)) return false;
    for (const auto& [name, buffer] : memory.buffers) {
      if (!same_values(buffer, again.buffers.at(name))) return false;
    }
  }
  return true;
}

void run_batch(std::uint64_t first, std::uint64_t count, const tests::CompileOptions& how) {
  std::vector<sdfg::Sdfg> graphs;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    graphs.push_back(tests::random_schedules(tests::random_nest(seed), seed));
  }
  std::vector<Function> functions;
  std::vector<tests::Generated> generated;
  std::vector<std::size_t> of;  // which graph each is of
  for (const Target* target : targets()) {
    for (std::size_t k = 0; k < graphs.size(); ++k) {
      const std::string function = "nest" + std::to_string(first + k) + "_" + std::string(target->name);
      const EmitOptions options{.function = function, .contract = false};
      // A GPU does not do all that C++ does.
      if (const auto code = target->emit(graphs[k], options); !code && target->has_gpu()) continue;
      functions.push_back(emitted_function(std::string(target->name), graphs[k], options));
      generated.push_back({&graphs[k], function});
      of.push_back(k);
    }
  }
  const auto code = tests::GeneratedCode::compile(tests::source_file(functions, "random nests"), generated, how);
  ASSERT_TRUE(code) << code.error().why;
  for (std::size_t k = 0; k < graphs.size(); ++k) {
    const sdfg::Memory before = tests::random_memory(graphs[k], first + k);
    sdfg::Memory expected = before;
    if (!interpreted(graphs[k], expected)) continue;
    for (std::size_t function = 0; function < functions.size(); ++function) {
      if (of[function] != k) continue;
      sdfg::Memory actual = before;
      EXPECT_EQ(code->run(function, actual, k % 2 == 0 ? tests::GuardPage::Behind : tests::GuardPage::InFront), 1);
      for (const auto& [name, buffer] : expected.buffers) {
        ASSERT_TRUE(same_values(actual.buffers.at(name), buffer))
            << "SOUS_SEED=" << first + k << ": " << name << " differs\n"
            << sdfg::print(graphs[k]) << "\n"
            << functions[function].code;
      }
    }
  }
}

TEST(Random, TargetsAgreeWithTheInterpreter) {
  const std::uint64_t seed = tests::from_environment("SOUS_SEED", 1);
  const std::uint64_t count = tests::from_environment("SOUS_COUNT", 160);
  RecordProperty("seed", std::to_string(seed));
  // The nests run few iterations: only short vectors have full ones among them.
  const std::pair<std::string, std::string> builds[] = {
      {"clang++-19", "native"}, {"g++-12", "x86-64-v2"}, {"clang++-19", "x86-64-v3"}, {"clang++-19", "x86-64-v2"}};
  for (std::uint64_t done = 0; done < count; done += 40) {
    const auto& [compiler, march] = builds[done / 40 % std::size(builds)];
    run_batch(seed + done, std::min<std::uint64_t>(40, count - done),
              {.include_root = SOUS_SOURCE_DIR,
               .compiler = compiler,
               .flags = "-O1 -march=" + march + " -fopenmp -fwrapv -ffp-contract=off -Wall -Wextra -Werror"});
  }
}

}  // namespace
}  // namespace sous::targets
