// A command that compiles C: its inputs one by one through the pipeline, then the objects where the command wants them.
#pragma once

#include "client/launcher.h"

namespace sous::client {

// Returns the exit status.
int compile_command(const Launch& launch);

}  // namespace sous::client
