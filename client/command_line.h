// What a compiler's command line asks for. Pure: reads no file but those given as @response files.
//
// The launcher acts only on what it understands completely. Everything else is `Pass`: the caller executes the original
// command, byte for byte. So an option that is in no table below makes the whole invocation pass through: whether it
// takes a separate argument is unknown.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sous::client {

enum class Action {
  Pass,            // not ours: run the original command
  Compile,         // -c, one or more inputs, at least one of them C at -O2 or above
  CompileAndLink,  // no -c: inputs are compiled and linked in one command
  Link,            // objects only
};

struct Input {
  std::string path;
  bool is_c = false;      // a C source file
  std::size_t index = 0;  // in `arguments`
};

struct CommandLine {
  Action action = Action::Pass;
  std::string why;                     // for Pass: the reason, one line
  std::vector<std::string> arguments;  // response files expanded, compiler not included
  std::vector<Input> inputs;
  std::optional<std::string> output;  // of -o

  // Parts of `arguments`, in order, without inputs and -o.
  std::vector<std::string> preprocess;  // what the preprocessor needs, -M… not included
  std::vector<std::string> compile;     // both: what compiling C needs, -M… not included
  std::vector<std::string> code;        // what compiling preprocessed C needs: -std=, -O, -m, -f, -g, …
  std::vector<std::string> cpp_code;    // of that, what generated C++ takes too
  std::vector<std::string> parse;       // what the front end needs for preprocessed text: -std=, -m, -f of the language
  std::vector<std::string> dependencies;  // -MD, -MF f, …
  std::vector<std::string> link;          // -lm, -shared, …: compilers differ in whether -c with them is a warning

  std::string optimization;     // "-O2", "-O3", "-Ofast"
  bool debug = false;           // -g…
  bool language_given = false;  // -x c

  // Whether the arguments have an option of the form -fNAME or -fNAME=VALUE, and no -fno-NAME behind it.
  bool gives(std::string_view option) const;
};

// Reads a response file; nullopt if there is none (the compiler then takes "@x" for an input, and so do we).
using ReadFile = std::function<std::optional<std::string>(const std::string&)>;

CommandLine classify(const std::vector<std::string>& arguments, const ReadFile& read_file);

// As the shell splits them, with quotes and backslashes; or as compilers do in response files, where a backslash
// stands for the next character inside of single quotes, too.
enum class Quoting : std::uint8_t { shell, response_file };
std::vector<std::string> split_words(std::string_view text, Quoting quoting = Quoting::shell);

// Whether a command lets its compiler reorder sums.
bool reorders_sums(std::string_view command);

// The options that make the preprocessor write the dependency file that the original compile of `input` would have
// written: -MF and -MT (quoted as make wants it, like -MQ) filled in. Empty if none was asked for.
std::vector<std::string> dependency_options(const CommandLine& line, const Input& input);

// The object that the original compile of `input` writes.
std::string object_path(const CommandLine& line, const Input& input);

}  // namespace sous::client
