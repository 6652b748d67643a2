// The options of C compilers that the launcher understands.
#pragma once

#include <span>
#include <string_view>

namespace sous::client {

// Where an option's value is, and which parts of the work it belongs to.
enum class Value { None, Separate, Either };  // Either: joined ("-Idir") or separate ("-I dir")
enum class Part { Drop, Preprocess, Code, Both, Dependency, LinkOnly, Pass };

struct Option {
  std::string_view name;
  Value value;
  Part part;
};

// Exact names (and, for Either, prefixes). What is a whole family is among the families.
std::span<const Option> compiler_options();

struct Family {
  std::string_view prefix;
  Part part;
};

// First match counts.
std::span<const Family> option_families();

}  // namespace sous::client
