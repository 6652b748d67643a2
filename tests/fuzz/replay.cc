// The plain driver of a fuzz target, for builds without libFuzzer.
//
//   fuzz_X FILE…                                    runs each once
//   fuzz_X --runs N [--seed S] [--save DIR] DIR…    runs the corpus, then N mutations of it
//
// The same seed, corpus and N give the same inputs. An input that ends the process is written to DIR (default: .)
// first, and the command that repeats it is printed.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tests/support/random.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// Of the sanitizers' runtime, where there is one: called before a report ends the process.
extern "C" void __sanitizer_set_death_callback(void (*callback)())  // NOLINT(bugprone-reserved-identifier): its name
    __attribute__((weak));

namespace {

using namespace std::string_view_literals;

constexpr std::size_t longest_input = 64 << 10;
constexpr rlim_t memory_budget = rlim_t{4} << 30;

// What the signal handler needs, ready before each input.
const char* program = "";
const char* save_folder = ".";
const std::string* running = nullptr;
std::uint64_t running_number = 0, seed = 0;
bool from_file = false;

void save_input() {
  if (!running) return;
  static char path[4096], message[3 * 4096];
  if (from_file) {
    std::snprintf(message, sizeof message, "fuzz: that was the file above\n");
  } else {
    std::snprintf(path, sizeof path, "%s/crash-seed%llu-run%llu", save_folder, static_cast<unsigned long long>(seed),
                  static_cast<unsigned long long>(running_number));
    const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bool kept = file >= 0;
    if (kept) kept = ::write(file, running->data(), running->size()) == static_cast<ssize_t>(running->size());
    std::snprintf(message, sizeof message, "fuzz: input %s %s\nrepeat: %s %s\n", kept ? "kept as" : "NOT kept as", path,
                  program, path);
  }
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message, std::strlen(message));
  running = nullptr;
}

void on_signal(int number) {
  save_input();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void watch_signals() {
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(save_input);
  static std::array<char, 64 << 10> stack;  // an overflown stack has no room for the handler
  stack_t alternative{};
  alternative.ss_sp = stack.data();
  alternative.ss_size = stack.size();
  ::sigaltstack(&alternative, nullptr);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction action{};
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    ::sigaction(number, &action, nullptr);
  }
}

bool sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return true;
#endif
#endif
  return false;
}

void limit_memory() {
  if (sanitized()) return;  // they map terabytes of address space
  const rlimit limit{memory_budget, memory_budget};
  ::setrlimit(RLIMIT_AS, &limit);
}

std::string read_all(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void run(const std::string& input) {
  // A copy of exactly its size: a read past its end is seen.
  std::vector<std::uint8_t> bytes(input.begin(), input.end());
  running = &input;
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  running = nullptr;
}

class Mutator {
 public:
  Mutator(const std::vector<std::string>& corpus, std::uint64_t random_seed) : corpus_(corpus), random_(random_seed) {}

  std::string next() {
    std::string text = random_.pick(corpus_);
    for (std::size_t k = 1 + random_.below(6); k > 0; --k) mutate(text);
    if (text.size() > longest_input) text.resize(longest_input);
    return text;
  }

 private:
  struct Range {
    std::size_t begin, length;
  };
  // Mostly short, now and then up to the end.
  Range range(const std::string& text) {
    const std::size_t begin = random_.below(text.size() + 1);
    const std::size_t most = text.size() - begin;
    return {begin, std::min(most, random_.percent(85) ? random_.below(24) : random_.below(most + 1))};
  }

  void mutate(std::string& text) {
    const Range at = range(text);
    switch (random_.below(9)) {
      case 0:  // a bit
        if (at.begin < text.size()) text[at.begin] = static_cast<char>(text[at.begin] ^ (1 << random_.below(8)));
        break;
      case 1:  // any byte, or one that means something in the languages read here
        if (at.begin < text.size())
          text[at.begin] =
              random_.percent(30) ? static_cast<char>(random_.below(256)) : marks[random_.below(marks.size())];
        break;
      case 2:
        text.erase(at.begin, at.length);
        break;
      case 3:  // doubled
        text.insert(at.begin, text.substr(at.begin, at.length));
        break;
      case 4: {  // moved
        const std::string piece = text.substr(at.begin, at.length);
        text.erase(at.begin, at.length);
        text.insert(random_.below(text.size() + 1), piece);
        break;
      }
      case 5: {  // a piece of another input
        const std::string& other = random_.pick(corpus_);
        const Range from = range(other);
        text.insert(at.begin, other.substr(from.begin, from.length));
        break;
      }
      case 6:
        number(text, at.begin);
        break;
      case 7:  // deep nesting, long runs
        text.insert(at.begin, random_.below(random_.percent(10) ? 5000 : 20), marks[random_.below(marks.size())]);
        break;
      default:  // another name of the same text
        word(text, at.begin);
        break;
    }
  }

  // The number at or behind `from` becomes one from the edge of some range.
  void number(std::string& text, std::size_t from) {
    static const std::vector<std::string> edges = {"0",
                                                   "1",
                                                   "-1",
                                                   "2147483647",
                                                   "2147483648",
                                                   "9223372036854775807",
                                                   "-9223372036854775808",
                                                   "9223372036854775808",
                                                   "18446744073709551616",
                                                   "1e308",
                                                   "1e999",
                                                   "4096",
                                                   "0.5",
                                                   "255"};
    const std::size_t begin = text.find_first_of("0123456789", from);
    if (begin == std::string::npos) return;
    const std::size_t end = std::min(text.find_first_not_of("0123456789", begin), text.size());
    text.replace(begin, end - begin, random_.pick(edges));
  }

  void word(std::string& text, std::size_t from) {
    static constexpr const char* letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    const std::size_t to = text.find_first_of(letters, random_.below(text.size() + 1));
    const std::size_t begin = text.find_first_of(letters, from);
    if (begin == std::string::npos || to == std::string::npos) return;
    const auto length = [&](std::size_t at) { return std::min(text.find_first_not_of(letters, at), text.size()) - at; };
    const std::string piece = text.substr(to, length(to));
    text.replace(begin, length(begin), piece);
  }

  static constexpr std::string_view marks = "()[]{}\"\\/*#,;:.=<>-+%&|!? \t\r\n\0\xff"sv;
  const std::vector<std::string>& corpus_;
  sous::tests::Random random_;
};

struct Arguments {
  std::uint64_t runs = 0;
  std::vector<std::filesystem::path> paths;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  program = argv[0];
  seed = sous::tests::from_environment("SOUS_SEED", 1);
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (word.starts_with("--") && k + 1 < argc) {
      const char* value = argv[++k];
      if (word == "--runs") arguments.runs = std::strtoull(value, nullptr, 10);
      if (word == "--seed") seed = std::strtoull(value, nullptr, 10);
      if (word == "--save") save_folder = value;
      continue;
    }
    arguments.paths.emplace_back(word);
  }
  return arguments;
}

// The files named, those in folders sorted by name.
std::vector<std::filesystem::path> files(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::filesystem::path> result;
  for (const auto& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      result.push_back(path);
      continue;
    }
    std::vector<std::filesystem::path> inside;
    for (const auto& entry : std::filesystem::directory_iterator(path)) inside.push_back(entry.path());
    std::sort(inside.begin(), inside.end());
    result.insert(result.end(), inside.begin(), inside.end());
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  std::error_code ignored;
  std::filesystem::create_directories(save_folder, ignored);
  limit_memory();
  watch_signals();
  std::vector<std::string> corpus;
  from_file = true;
  for (const auto& path : files(arguments.paths)) {
    if (!std::filesystem::is_regular_file(path)) {
      std::fprintf(stderr, "fuzz: there is no file %s\n", path.c_str());
      return 2;
    }
    corpus.push_back(read_all(path));
    if (arguments.runs == 0) std::printf("%s\n", path.c_str());
    std::fflush(stdout);
    running_number = corpus.size();
    run(corpus.back());
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "usage: %s FILE… | --runs N [--seed S] [--save DIR] CORPUS…\n", program);
    return 2;
  }
  from_file = false;
  std::printf("%s: seed %llu, %zu inputs, %llu mutations\n", program, static_cast<unsigned long long>(seed),
              corpus.size(), static_cast<unsigned long long>(arguments.runs));
  std::fflush(stdout);
  Mutator mutator(corpus, seed);
  for (running_number = 0; running_number < arguments.runs; ++running_number) run(mutator.next());
  return 0;
}
