// What the targets that print C++ have in common.
#pragma once

#include <array>

#include "targets/target.h"

namespace sous::targets {

extern const Language cpp_language;

inline constexpr std::array host_storages{sdfg::Storage::argument, sdfg::Storage::stack, sdfg::Storage::heap,
                                          sdfg::Storage::registers};

}  // namespace sous::targets
