#include "server/arguments.h"

#include <algorithm>

#include "sdfg/suggest.h"

namespace sous::server {

Result<Arguments> read_arguments(std::span<const std::string> words, std::span<const OptionName> known) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with('-')) {
      arguments.words.emplace_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string name(word.substr(0, equals));
    const auto option = std::ranges::find(known, name, &OptionName::name);
    if (option == known.end()) {
      std::vector<std::string> names;
      for (const OptionName& one : known) names.emplace_back(one.name);
      return fail("cli.unknown-option", "there is no option " + name + did_you_mean(name, names));
    }
    if (!option->takes_value && equals != std::string_view::npos) return fail("cli.value", name + " takes no value");
    std::string value;
    if (option->takes_value && equals == std::string_view::npos) {
      if (++i == words.size()) return fail("cli.value", name + " wants a value");
      value = words[i];
    } else if (option->takes_value) {
      value = word.substr(equals + 1);
    }
    arguments.options.insert_or_assign(name, std::move(value));
  }
  return arguments;
}

}  // namespace sous::server
