#include "client/meaning.h"

namespace sous::client {

Meaning with_options(Meaning meaning, const Options& options) {
  meaning.reassociate = meaning.reassociate || options.reassociate;
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
