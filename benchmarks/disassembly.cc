#include "benchmarks/disassembly.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

namespace sous::benchmarks {
namespace {

using std::string;
using std::string_view;

std::optional<std::uint64_t> hexadecimal(string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

string_view trimmed(string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

struct Parts {
  string_view mnemonic, operands;
};
Parts parts(string_view text) {
  const auto blank = text.find_first_of(" \t");
  if (blank == string_view::npos) return {text, {}};
  string_view operands = trimmed(text.substr(blank));
  operands = trimmed(operands.substr(0, operands.find('#')));  // objdump's remarks
  return {text.substr(0, blank), operands};
}

// The operand that is last in AT&T order: the destination.
string_view destination(string_view operands) {
  int depth = 0;
  for (std::size_t i = operands.size(); i-- > 0;) {
    if (operands[i] == ')') ++depth;
    if (operands[i] == '(') --depth;
    if (operands[i] == ',' && depth == 0) return operands.substr(i + 1);
  }
  return operands;
}

bool has(string_view text, string_view part) { return text.find(part) != string_view::npos; }
bool is_packed(string_view mnemonic) { return mnemonic.ends_with("pd") || mnemonic.ends_with("ps"); }
bool is_scalar(string_view mnemonic) { return mnemonic.ends_with("sd") || mnemonic.ends_with("ss"); }

void count_one(const Instruction& instruction, bool frame_pointer, LoopCounts& counts) {
  const auto [mnemonic, operands] = parts(instruction.text);
  ++counts.instructions;
  const bool fma = mnemonic.starts_with("vfmadd") || mnemonic.starts_with("vfnmadd") ||
                   mnemonic.starts_with("vfmsub") || mnemonic.starts_with("vfnmsub");
  const bool moves = has(mnemonic, "mov") || has(mnemonic, "broadcast");
  const bool vector = has(operands, "%xmm") || has(operands, "%ymm") || has(operands, "%zmm");
  counts.vector_fma += fma && is_packed(mnemonic) ? 1 : 0;
  counts.scalar_fma += fma && is_scalar(mnemonic) ? 1 : 0;
  const bool integer = mnemonic.starts_with("vpadd") || mnemonic.starts_with("vpsub") ||
                       mnemonic.starts_with("vpmul") || mnemonic.starts_with("vpmin") || mnemonic.starts_with("vpmax");
  const bool floating = is_packed(mnemonic) &&
                        (has(mnemonic, "add") || has(mnemonic, "sub") || has(mnemonic, "mul") || has(mnemonic, "div") ||
                         has(mnemonic, "min") || has(mnemonic, "max") || has(mnemonic, "sqrt"));
  counts.vector_arithmetic += !fma && (integer || floating) ? 1 : 0;
  counts.gathers += has(mnemonic, "gather") ? 1 : 0;
  counts.divisions += has(mnemonic, "div") ? 1 : 0;
  const bool touches = has(operands, "(") && !mnemonic.starts_with("lea") && !mnemonic.starts_with("nop") &&
                       !mnemonic.starts_with("prefetch");
  if (!touches) return;
  const bool stores = moves && has(destination(operands), "(");
  const bool compares = mnemonic.starts_with("cmp") || mnemonic.starts_with("test");
  const bool updates = !moves && !compares && !vector && has(destination(operands), "(");  // add %rax,(%rdx)
  counts.stores += stores || updates ? 1 : 0;
  counts.loads += !stores ? 1 : 0;
  // With an index it is an array on the stack, not a spilled register.
  const bool stack = has(operands, "(%rsp)") || (frame_pointer && has(operands, "(%rbp)"));
  counts.spills += vector && stack ? 1 : 0;
}

struct Function {
  string name;
  std::vector<Instruction> body;
};

std::vector<Function> functions(string_view objdump) {
  std::vector<Function> out;
  while (!objdump.empty()) {
    const auto end = objdump.find('\n');
    const string_view line = objdump.substr(0, end);
    objdump = end == string_view::npos ? string_view{} : objdump.substr(end + 1);
    if (line.ends_with(">:") && has(line, " <")) {  // 0000000000001140 <main>:
      const auto begin = line.find('<') + 1;
      out.push_back({string(line.substr(begin, line.size() - 2 - begin)), {}});
      continue;
    }
    const string_view text = trimmed(line);  // 1148:\tvmovupd …
    const auto colon = text.find(':');
    if (out.empty() || colon == string_view::npos) continue;
    const auto address = hexadecimal(text.substr(0, colon));
    const string_view instruction = trimmed(text.substr(colon + 1));
    if (address && !instruction.empty()) out.back().body.push_back({*address, string(instruction)});
  }
  return out;
}

std::optional<std::uint64_t> jump_target(const Instruction& instruction) {
  const auto [mnemonic, operands] = parts(instruction.text);
  if (!mnemonic.starts_with("j")) return std::nullopt;
  return hexadecimal(operands);
}

}  // namespace

LoopCounts count(const std::vector<Instruction>& body, bool frame_pointer) {
  LoopCounts counts;
  for (const Instruction& instruction : body) count_one(instruction, frame_pointer, counts);
  return counts;
}

string generated_name(string_view symbol) {
  string_view name = symbol, behind;
  if (name.starts_with("_ZL")) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(name.data() + 3, name.data() + name.size(), length);
    const string_view rest(end, static_cast<std::size_t>(name.data() + name.size() - end));
    if (error != std::errc() || rest.size() < length) return {};
    name = rest.substr(0, length);
    behind = rest.substr(length);
    behind = behind.substr(std::min(behind.find('.'), behind.size()));
  }
  return name.starts_with("sous_") ? string(name) + string(behind) : string();
}

std::vector<Loop> innermost_loops(string_view objdump) {
  std::vector<Loop> out;
  for (const Function& function : functions(objdump)) {
    struct LoopLines {
      std::size_t begin, end;  // indices of the target and the jump
    };
    std::vector<LoopLines> ranges;
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      const auto target = jump_target(function.body[i]);
      if (!target || *target > function.body[i].address) continue;
      const auto begin = std::lower_bound(function.body.begin(), function.body.end(), *target,
                                          [](const Instruction& a, std::uint64_t b) { return a.address < b; });
      if (begin == function.body.end() || begin->address != *target) continue;
      ranges.push_back({static_cast<std::size_t>(begin - function.body.begin()), i});
    }
    const bool frame_pointer = std::any_of(function.body.begin(), function.body.end(), [](const Instruction& i) {
      const auto [mnemonic, operands] = parts(i.text);
      return mnemonic == "mov" && operands == "%rsp,%rbp";
    });
    for (const LoopLines& range : ranges) {
      const bool innermost = std::none_of(ranges.begin(), ranges.end(), [&](const LoopLines& other) {
        return other.begin >= range.begin && other.end <= range.end &&
               (other.begin != range.begin || other.end != range.end);
      });
      if (!innermost) continue;
      Loop loop{function.name,
                {function.body.begin() + static_cast<std::ptrdiff_t>(range.begin),
                 function.body.begin() + static_cast<std::ptrdiff_t>(range.end) + 1},
                {}};
      loop.counts = count(loop.body, frame_pointer);
      out.push_back(std::move(loop));
    }
  }
  std::sort(out.begin(), out.end(), [](const Loop& a, const Loop& b) {
    const auto key = [](const Loop& l) {  // the address makes equal ones keep their place
      return std::tuple(-l.counts.vector_fma, -l.counts.vector_arithmetic, l.body[0].address);
    };
    return key(a) < key(b);
  });
  return out;
}

}  // namespace sous::benchmarks
