#include "client/command_line.h"

#include <algorithm>
#include <array>
#include <utility>

#include "client/compiler.h"
#include "client/compiler_options.h"
#include "client/floating_point.h"

namespace sous::client {
namespace {

using std::string;
using std::string_view;

bool starts_with_any(string_view text, std::initializer_list<string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](string_view p) { return text.starts_with(p); });
}

string extension(string_view path) {
  const auto slash = path.rfind('/');
  const auto name = slash == string_view::npos ? path : path.substr(slash + 1);
  const auto dot = name.rfind('.');
  return dot == string_view::npos ? "" : string(name.substr(dot + 1));
}

string stem(string_view path) {
  const auto slash = path.rfind('/');
  const auto name = slash == string_view::npos ? path : path.substr(slash + 1);
  const auto dot = name.rfind('.');
  return string(dot == string_view::npos ? name : name.substr(0, dot));
}

bool is_source_of_other_language(const string& ext) {
  static constexpr auto others = std::to_array<string_view>(
      {"cc",  "cp", "cxx", "cpp", "CPP", "c++", "C",   "ii", "i",  "m",     "mi", "mm",  "M",
       "h",   "hh", "H",   "hp",  "hxx", "hpp", "tcc", "s",  "S",  "sx",    "f",  "F",   "f90",
       "F90", "go", "d",   "ads", "adb", "cu",  "bc",  "ll", "cl", "swift", "rs", "pch", "gch"});
  return std::find(others.begin(), others.end(), ext) != others.end();
}

void expand(const std::vector<string>& arguments, const ReadFile& read_file, int depth, std::vector<string>& out) {
  for (const auto& argument : arguments) {
    if (argument.size() > 1 && argument[0] == '@' && depth < 8) {
      if (const auto text = read_file(argument.substr(1))) {
        expand(split_words(*text, Quoting::response_file), read_file, depth + 1, out);
        continue;
      }
    }
    out.push_back(argument);
  }
}

// Options of the language that the parser of preprocessed text must know.
bool matters_for_parsing(string_view option) {
  if (starts_with_any(option, {"-std=", "-ansi", "-m", "-Wno-"})) return true;
  // The one that says no, too: the last one counts.
  string_view name = option;
  if (!name.starts_with("-f")) return false;
  name.remove_prefix(name.starts_with("-fno-") ? 5 : 2);
  return starts_with_any(
      name, {"signed-char", "unsigned-char", "signed-bitfields", "unsigned-bitfields", "short-enums", "short-wchar",
             "pack-struct", "builtin", "gnu89-inline", "gnu-keywords", "asm", "blocks", "dollars-in-identifiers",
             "ms-extensions", "ms-compatibility", "openmp", "strict-aliasing"});
}

// C-only options that make a C++ compiler complain, and those that we set ourselves for generated code.
bool fits_cpp(string_view option) {
  return !starts_with_any(option,
                          {"-std=", "-ansi", "-W", "-w", "-pedantic", "-fgnu89", "-fms-ext", "-fplan9",
                           "-fallow-parameterless", "-fcond-mismatch", "-flax-vector", "-frandom-seed", "-fsigned",
                           "-funsigned", "-fpack-struct", "-fopenmp", "-ffp-contract", "-fdiagnostics", "-fcolor",
                           // Functions of the runtime's headers are many, and none is called by name.
                           "-fkeep-inline", "-fkeep-static", "-fno-weak"}) ||
         starts_with_any(option, {"-Wa,", "-funsigned-bitfields", "-fsigned-zeros"});
}

class ArgumentReader {
 public:
  explicit ArgumentReader(CommandLine& line) : line_(line) {}

  // False: the reason to pass through is set.
  bool read() {
    const auto& args = line_.arguments;
    for (std::size_t k = 0; k < args.size(); ++k) {
      if (!read_one(args, k)) return false;
    }
    return decide();
  }

 private:
  bool pass(string why) {
    line_.action = Action::Pass;
    line_.why = std::move(why);
    return false;
  }

  bool read_one(const std::vector<string>& args, std::size_t& k) {
    const string& arg = args[k];
    if (arg == "-") return pass("input from standard input");
    if (arg.empty() || arg[0] != '-') return input(arg, k);
    if (arg == "-o" || (arg.starts_with("-o") && !arg.starts_with("-object"))) {
      if (arg == "-o" && k + 1 == args.size()) return pass("-o without a name");
      line_.output = arg == "-o" ? args[++k] : arg.substr(2);
      return *line_.output != "-" || pass("output to standard output");
    }
    if (arg == "-x" || arg.starts_with("-x")) {
      const string language = arg == "-x" ? (k + 1 < args.size() ? args[++k] : "") : arg.substr(2);
      if (language != "c" && language != "none") return pass("-x " + language);
      language_c_ = language == "c";
      line_.language_given = true;
      return true;
    }
    if (arg.starts_with("--target=") || arg == "-target" || arg == "-arch")
      return pass("cross compilation (" + arg + ")");
    if (arg == "-c") compile_only_ = true;
    if (arg.starts_with("-O")) optimization(arg);
    if (arg.starts_with("-g") && arg != "-g0") line_.debug = true;

    for (const auto& option : compiler_options()) {
      const bool exact = arg == option.name;
      const bool joined =
          option.value == Value::Either && arg.size() > option.name.size() && arg.starts_with(option.name);
      if (!exact && !joined) continue;
      std::vector<string> words{arg};
      if (exact && option.value != Value::None) {
        if (k + 1 == args.size()) return pass(arg + " without a value");
        words.push_back(args[++k]);
      }
      return put(option.part, words);
    }
    for (const auto& family : option_families()) {
      if (arg.starts_with(family.prefix)) return put(family.part, {arg});
    }
    return pass("an option that is not known here: " + arg);
  }

  void optimization(const string& arg) {
    const auto level = string_view(arg).substr(2);
    if (level == "2" || level == "3" || level == "fast") {
      line_.optimization = arg;
    } else if (!level.empty() && level.find_first_not_of("0123456789") == string_view::npos && level > "3") {
      line_.optimization = "-O3";  // both compilers read -O4 and above as -O3
    } else {
      line_.optimization.clear();
    }
  }

  bool put(Part part, const std::vector<string>& words) {
    const auto append = [&](std::vector<string>& to) { to.insert(to.end(), words.begin(), words.end()); };
    switch (part) {
      case Part::Drop:
        return true;
      case Part::LinkOnly:
        append(line_.link);
        return true;
      case Part::Pass:
        return pass(words[0] + " is left to the compiler alone");
      case Part::Dependency:
        append(line_.dependencies);
        return true;
      case Part::Preprocess:
        append(line_.preprocess);
        append(line_.compile);
        return true;
      case Part::Both:
        append(line_.preprocess);
        [[fallthrough]];
      case Part::Code:
        append(line_.code);
        append(line_.compile);
        if (fits_cpp(words[0])) append(line_.cpp_code);
        if (matters_for_parsing(words[0])) append(line_.parse);
        return true;
    }
    __builtin_unreachable();
  }

  bool input(const string& arg, std::size_t k) {
    const string ext = extension(arg);
    if (!language_c_ && is_source_of_other_language(ext)) other_language_ = arg;
    line_.inputs.push_back({arg, language_c_ || ext == "c", k});
    return true;
  }

  bool decide() {
    if (line_.inputs.empty()) return pass("no input file");
    if (!other_language_.empty()) return pass("not C: " + other_language_);
    const auto c_inputs =
        std::count_if(line_.inputs.begin(), line_.inputs.end(), [](const Input& i) { return i.is_c; });
    if (c_inputs == 0) {
      if (compile_only_) return pass("no C input");
      line_.action = Action::Link;
      return true;
    }
    if (line_.optimization.empty()) return pass("below -O2");
    if (compile_only_ && line_.output && line_.inputs.size() > 1) return pass("-c and -o with several inputs");
    if (!compile_only_ && line_.language_given) return pass("-x in a command that also links");
    // The names that the driver gives to dependency files when it links too differ between compilers and versions.
    if (!compile_only_ && !line_.dependencies.empty()) return pass("dependency files of a command that also links");
    if (line_.inputs.size() > 1 && has_explicit_dependency_file()) return pass("-MF with several inputs");
    const bool makes_dependencies =
        std::ranges::any_of(line_.dependencies, [](const string& d) { return d == "-MD" || d == "-MMD"; });
    // Compilers differ in what they say of it.
    if (!line_.dependencies.empty() && !makes_dependencies) return pass("options about dependencies without -MD");
    line_.action = compile_only_ ? Action::Compile : Action::CompileAndLink;
    return true;
  }

  bool has_explicit_dependency_file() const {
    return std::any_of(line_.dependencies.begin(), line_.dependencies.end(),
                       [](const string& d) { return d.starts_with("-MF"); });
  }

  CommandLine& line_;
  bool compile_only_ = false, language_c_ = false;
  string other_language_;
};

string make_quoted(string_view text) {  // as -MQ does
  string out;
  for (char c : text) {
    if (c == '$') out += '$';
    if (c == ' ' || c == '#' || c == '\t') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::vector<string> split_words(string_view text, Quoting quoting) {
  std::vector<string> words;
  string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '\\' && k + 1 < text.size() && (quote != '\'' || quoting == Quoting::response_file)) {
      word += text[++k];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(word);
  return words;
}

bool CommandLine::gives(std::string_view option) const {
  const std::string with_value = std::string(option) + "=", without = "-fno-" + std::string(option.substr(2));
  bool given = false;
  for (const std::string& argument : arguments) {
    if (argument == option || argument.starts_with(with_value)) given = true;
    if (argument == without) given = false;
  }
  return given;
}

bool reorders_sums(string_view command) {
  const auto words = split_words(command);
  return !words.empty() && floating_point(words, is_gcc(words[0])).reassociate;
}

CommandLine classify(const std::vector<string>& arguments, const ReadFile& read_file) {
  CommandLine line;
  expand(arguments, read_file, 0, line.arguments);
  ArgumentReader(line).read();
  return line;
}

string object_path(const CommandLine& line, const Input& input) {
  return line.output && line.action == Action::Compile ? *line.output : stem(input.path) + ".o";
}

std::vector<string> dependency_options(const CommandLine& line, const Input& input) {
  const auto& given = line.dependencies;
  const auto has = [&](string_view prefix) {
    return std::any_of(given.begin(), given.end(), [&](const string& d) { return d.starts_with(prefix); });
  };
  if (!has("-MD") && !has("-MMD")) return {};
  std::vector<string> out = given;
  const string object = object_path(line, input);
  if (!has("-MF")) {
    const auto slash = object.rfind('/');
    const string folder = slash == string::npos ? "" : object.substr(0, slash + 1);
    out.insert(out.end(), {"-MF", folder + stem(object) + ".d"});
  }
  if (!has("-MT") && !has("-MQ")) out.insert(out.end(), {"-MT", make_quoted(object)});
  return out;
}

}  // namespace sous::client
