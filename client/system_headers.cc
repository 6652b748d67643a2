#include "client/system_headers.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "client/process.h"

namespace sous::client {
namespace {

namespace fs = std::filesystem;
using std::string;
using std::string_view;

// "clang", "clang-19", "gcc-12", "x86_64-linux-gnu-gcc-12": the program itself, where links lead to; not mpicc.
bool is_plain_compiler(string_view name) {
  while (!name.empty() && ((name.back() >= '0' && name.back() <= '9') || name.back() == '.')) name.remove_suffix(1);
  if (name.ends_with('-')) name.remove_suffix(1);
  return name == "clang" || name == "gcc" || name.ends_with("-linux-gnu-gcc");
}

bool moves_the_search(const string& word) {
  static constexpr string_view begins[] = {
      "--sysroot",     "-isysroot", "--target", "-target", "-nostd",   "-B",         "-iwith",         "-iprefix",
      "-specs",        "--specs",   "--config", "--gcc-",  "-Xclang",  "-Wp,",       "-Xpreprocessor", "--prefix",
      "-resource-dir", "--stdlib",  "-F",       "-ccc-",   "-imultil", "-iframework"};
  return std::ranges::any_of(begins, [&](string_view begin) { return word.starts_with(begin); });
}

// Those whose name holds this.
std::vector<fs::path> folders_in(const fs::path& folder, string_view part = "") {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const bool named = at->path().native().find(part, folder.native().size()) != string::npos;
    if (named && at->is_directory(error)) out.push_back(at->path());
  }
  return out;
}

void add_if_there(const fs::path& folder, std::vector<string>& to) {
  std::error_code error;
  if (fs::is_directory(folder, error)) to.push_back(folder.string());
}

}  // namespace

std::vector<string> system_header_folders(const CommandLine& line, const string& compiler) {
  std::error_code error;
  const fs::path program = fs::canonical(program_path(compiler), error);
  if (error || !is_plain_compiler(program.filename().string()) ||
      std::ranges::any_of(line.preprocess, moves_the_search))
    return {};
  const fs::path prefix = program.parent_path().parent_path();
  std::vector<string> out;
  // The compiler's own, of whichever version it is.
  for (const auto& version : folders_in(prefix / "lib/clang")) add_if_there(version / "include", out);
  for (const auto& machine : folders_in(prefix / "lib/gcc"))
    for (const auto& version : folders_in(machine))
      for (const char* name : {"include", "include-fixed"}) add_if_there(version / name, out);
  if (out.empty()) return {};
  for (const fs::path& root : {prefix, fs::path("/usr"), fs::path("/usr/local")}) {
    add_if_there(root / "include", out);
    for (const auto& machine : folders_in(root / "include", "-linux-")) out.push_back(machine.string());
    for (const auto& machine : folders_in(root, "-linux-")) add_if_there(machine / "include", out);
  }
  return out;
}

}  // namespace sous::client
