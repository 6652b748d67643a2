#include "client/meaning.h"

#include <algorithm>

#include "client/compiler.h"
#include "sdfg/planted_fault.h"
#include "tuning-db/build_isa.h"

namespace sous::client {

Meaning with_options(Meaning meaning, const Options& options) {
  meaning.reassociate = meaning.reassociate || options.reassociate;
  return meaning;
}

Meaning beyond_the_build(Meaning meaning, const Options& options, const ResultCache* cache) {
  tuning_db::Hardware machine = tuning_db::local_hardware();
  if (const auto most = tuning_db::parse_isa(options.isa)) machine.isa = std::min(machine.isa, *most);
  return beyond_the_build(std::move(meaning), machine, cache);
}

Meaning beyond_the_build(Meaning meaning, const tuning_db::Hardware& machine, const ResultCache* cache) {
  const auto wider = tuning_db::wider_than_build(meaning.cpp_code, machine);
  if (wider.empty()) return meaning;
  if (meaning.contraction != Contraction::Off) {
    const auto fuses = has_fma(meaning.compiler, meaning.cpp_code, cache);
    if (!fuses) return meaning;
    if (!*fuses && !planted(Fault::wider_code_fuses)) meaning.contraction = Contraction::Off;
  }
  meaning.cpp_code.insert(meaning.cpp_code.end(), wider.begin(), wider.end());
  meaning.processor = machine.isa;
  return meaning;
}

targets::EmitOptions emit_options(const Meaning& meaning) {
  targets::EmitOptions options;
  options.contract = meaning.contraction != Contraction::Off;
  options.reassociate = meaning.reassociate;
  options.approximate_math = meaning.approximate_math;
  options.math_errno = meaning.math_errno;
  return options;
}

}  // namespace sous::client
