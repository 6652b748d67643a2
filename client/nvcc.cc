#include "client/nvcc.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "client/compiler.h"
#include "client/cuda_toolkit.h"
#include "client/places.h"
#include "tuning-db/build_isa.h"

namespace sous::client {
namespace {

using std::string;
using Words = std::vector<string>;

bool exists(const string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// What an installation, a package of a distribution or a link to either calls it.
std::optional<string> static_runtime(const string& nvcc) {
  std::error_code error;
  const string folder = folder_of(std::filesystem::weakly_canonical(nvcc, error).string());
  for (const string& place : {folder + "/../lib64", folder + "/../lib", folder + "/../lib/x86_64-linux-gnu",
                              folder + "/../targets/x86_64-linux/lib"}) {
    if (exists(place + "/libcudart_static.a")) return place + "/libcudart_static.a";
  }
  return std::nullopt;
}

// Those that SOUS_CUDA_ARCH names: "80", "90a".
Words named_architectures() {
  const char* wish = std::getenv("SOUS_CUDA_ARCH");
  string list = wish == nullptr ? "" : wish;
  Words out;
  list += ",";
  for (std::size_t at = 0; at < list.size();) {
    const auto end = list.find(',', at);
    string number = list.substr(at, end - at);
    if (number.starts_with("sm_")) number.erase(0, 3);
    if (!number.empty()) out.push_back(std::move(number));
    at = end + 1;
  }
  return out;
}

Words architectures() {
  const Words named = named_architectures();
  if (named.empty() && exists("/dev/nvidiactl")) return {"-arch=native"};
  if (named.empty()) return {"-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=[sm_90,compute_90]"};
  Words out;
  for (const string& number : named) out.push_back("-gencode=arch=compute_" + number + ",code=sm_" + number);
  return out;
}

// Whether the processor that the program is compiled for multiplies and adds with one rounding.
bool has_fma(const Words& flags) {
  const auto isa = tuning_db::build_isa(flags, tuning_db::local_hardware());
  return isa == tuning_db::Isa::avx2 || isa == tuning_db::Isa::avx512;
}

Result<void> finished(const Words& command, std::string_view refusal, const string& folder = "") {
  TRY(const auto done,
      run(command, {.capture_output = true, .capture_errors = true, .environment = {}, .folder = folder}));
  // nvcc's own parts say some errors on the other stream.
  if (done.status != 0)
    return fail(string(refusal),
                name_of(command[0]) + ": " + first_error(done.errors.empty() ? done.output : done.errors));
  return {};
}

}  // namespace

int oldest_architecture() {
  constexpr int usual = 80;
  int oldest = 0;
  for (const string& name : named_architectures()) {
    int number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (number > 0 && (oldest == 0 || number < oldest)) oldest = number;
  }
  return oldest > 0 ? oldest : usual;
}

Result<void> compile_cuda(const string& source, const string& object, const targets::Language& language,
                          const GeneratedBuild& build) {
  const auto nvcc = find_nvcc();
  const auto runtime = nvcc ? static_runtime(*nvcc) : std::nullopt;
  if (!nvcc || !runtime)
    return fail("nvcc.missing",
                "the CUDA Toolkit is not there: nvcc and libcudart_static.a are looked for by CUDA_HOME, "
                "in PATH and in /usr/local/cuda");
  Words command{*nvcc};
  command.insert(command.end(), language.options.begin(), language.options.end());
  const Words gpus = architectures();
  command.insert(command.end(), gpus.begin(), gpus.end());
  if (has_fma(build.flags)) command.emplace_back("-DSOUS_HOST_FMA");
  command.insert(command.end(),
                 {"-frandom-seed=sous", "-I" + runtime_include_path(), "-c", name_of(source), "-o", object + ".own"});
  // From its folder: nvcc makes names of the path.
  TRY_VOID(finished(command, build.refusal, folder_of(source)));
  TRY_VOID(finished({"ld", "-r", "--force-group-allocation", "-o", object + ".joined", object + ".own", *runtime},
                    build.refusal));
  // Without the names of nvcc's temporary files, too, which differ from run to run.
  return finished({"objcopy", "--discard-all", "--wildcard", "--strip-symbol=tmpxft_*", "--localize-symbol=_Z*",
                   "--localize-symbol=cuda*", "--localize-symbol=__cuda*", "--localize-symbol=libcudart_static_*",
                   object + ".joined", object},
                  build.refusal);
}

}  // namespace sous::client
