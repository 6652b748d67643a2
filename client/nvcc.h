// CUDA's compiler, and objects that need nothing of it when they are linked.
#pragma once

#include <string>

#include "client/generated_code.h"

namespace sous::client {

// Compiles a file of CUDA into an object that holds the runtime as symbols of its own: any link takes it, several such
// objects do not meet, and a program without a GPU starts like any other. For the GPUs that SOUS_CUDA_ARCH names
// ("80,90"), else those of this machine, else sm_80 and sm_90 with code that later ones translate.
// Errors: nvcc.missing, build.refusal with the first error of nvcc, client.run.
Result<void> compile_cuda(const std::string& source, const std::string& object, const targets::Language& language,
                          const GeneratedBuild& build);

// The oldest of the GPUs that SOUS_CUDA_ARCH names, or 80.
int oldest_architecture();

}  // namespace sous::client
