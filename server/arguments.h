// The words behind `sous-serve`.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"

namespace sous::server {

struct Arguments {
  std::map<std::string, std::string, std::less<>> options;  // flags have the value ""
  std::vector<std::string> words;

  bool has(std::string_view name) const { return options.contains(name); }
  std::string get(std::string_view name, const std::string& otherwise) const {
    const auto found = options.find(name);
    return found == options.end() ? otherwise : found->second;
  }
};

struct OptionName {
  std::string_view name;  // "--db"
  bool takes_value = true;
};

// "--name value", "--name=value"; the last of several counts. Errors: cli.unknown-option, cli.value.
Result<Arguments> read_arguments(std::span<const std::string> words, std::span<const OptionName> known);

}  // namespace sous::server
