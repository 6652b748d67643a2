#include "tests/support/generated.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <utility>

namespace sous::tests {
namespace {

using Entry = int (*)(void* const*);

// The generated entries are hidden.
std::string exported(const std::string& function) { return "call_" + function; }

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// A buffer's bytes between two pages that cannot be touched.
class Guarded {
 public:
  Guarded(const std::vector<std::byte>& bytes, GuardPage guard) : size_(bytes.size()) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (size_ + page - 1) / page * page;
    mapped_ = inner + 2 * page;
    base_ = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SOUS_ASSERT(base_ != MAP_FAILED);
    std::byte* first = static_cast<std::byte*>(base_) + page;
    if (inner > 0) SOUS_ASSERT(mprotect(first, inner, PROT_READ | PROT_WRITE) == 0);
    data_ = guard == GuardPage::Behind ? first + (inner - size_) : first;
    if (size_ > 0) std::memcpy(data_, bytes.data(), size_);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(base_, mapped_); }
  void copy_back(std::vector<std::byte>& bytes) const {
    if (size_ > 0) std::memcpy(bytes.data(), data_, size_);
  }
  std::byte* data() const { return data_; }

 private:
  std::size_t size_, mapped_ = 0;
  void* base_ = nullptr;
  std::byte* data_ = nullptr;
};

}  // namespace

std::string source_file(const std::vector<targets::Function>& functions, std::string_view comment) {
  // CUDA's files are C++ for a compiler of that.
  std::string text;
  for (const targets::File& file : targets::files(functions, comment)) text += file.text;
  return text;
}

Result<GeneratedCode> GeneratedCode::compile(const std::string& source, std::vector<Generated> functions,
                                             const CompileOptions& options) {
  GeneratedCode code;
  std::string folder = (std::filesystem::temp_directory_path() / "sous-test-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return fail("test.compile", "no temporary folder");
  code.folder_ = folder;
  const auto file = code.folder_ / "generated.cc", object = code.folder_ / "generated.so", log = code.folder_ / "log";
  std::string text = source;
  for (const Generated& g : functions)
    text += "\n" + targets::cpp_target.language->caller(*g.sdfg, g.function, exported(g.function));
  std::ofstream(file) << text;
  const std::string command = options.compiler + " -std=c++17 -fno-exceptions -fno-rtti -shared -fPIC -DSOUS_LOADED" +
                              no_warnings_of_the_processor + options.flags + " -I" + options.include_root + " " +
                              file.string() + " -o " + object.string() + " 2>" + log.string();
  if (std::system(command.c_str()) != 0) {
    return fail("test.compile", command + "\n" + read_file(log) + "\n" + text);
  }
  code.library_ = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (code.library_ == nullptr) return fail("test.compile", dlerror());
  code.functions_ = std::move(functions);
  return code;
}

GeneratedCode::GeneratedCode(GeneratedCode&& other) noexcept
    : folder_(std::exchange(other.folder_, {})),
      library_(std::exchange(other.library_, nullptr)),
      functions_(std::move(other.functions_)) {}

// The library stays loaded: the OpenMP runtime that came with it keeps threads.
GeneratedCode::~GeneratedCode() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

void* GeneratedCode::symbol(const char* name) const { return dlsym(library_, name); }

int GeneratedCode::call(std::size_t function, const std::vector<void*>& arguments) const {
  const auto entry = reinterpret_cast<Entry>(dlsym(library_, exported(functions_[function].function).c_str()));
  SOUS_ASSERT(entry != nullptr);
  return entry(arguments.data());
}

int GeneratedCode::run(std::size_t function, sdfg::Memory& memory, GuardPage guard) const {
  const Generated& g = functions_[function];
  std::vector<void*> arguments;
  std::vector<std::pair<std::string, std::unique_ptr<Guarded>>> guarded;
  for (const std::string& name : g.sdfg->arguments) {
    if (g.sdfg->find(name) == nullptr) {
      arguments.push_back(&memory.symbols.at(name));
      continue;
    }
    guarded.emplace_back(name, std::make_unique<Guarded>(memory.buffers.at(name).bytes, guard));
    arguments.push_back(guarded.back().second->data());
  }
  const int result = call(function, arguments);
  for (const auto& [name, bytes] : guarded) bytes->copy_back(memory.buffers.at(name).bytes);
  sdfg::forget_dead(*g.sdfg, memory);
  return result;
}

}  // namespace sous::tests
