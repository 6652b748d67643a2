#include "tuning-db/libpq.h"

#include <dlfcn.h>

#include <optional>

namespace sous::tuning_db {
namespace {

std::optional<Libpq> load() {
  void* const library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  Libpq all;
  bool complete = true;
  const auto find = [&]<class F>(const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(library, name));
    complete = complete && function != nullptr;
  };
#define SOUS_LIBPQ_FIND(name) find(#name, all.name);
  SOUS_LIBPQ(SOUS_LIBPQ_FIND)
#undef SOUS_LIBPQ_FIND
  return complete ? std::optional(all) : std::nullopt;
}

}  // namespace

const Libpq* libpq() {
  static const std::optional<Libpq> library = load();
  return library ? &*library : nullptr;
}

}  // namespace sous::tuning_db
