// Element types of containers and of scalar expressions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sous::sdfg {

//   enumerator, text name, C++ spelling in generated code, bytes, kind
#define SOUS_ELEMENT_TYPES(X)            \
  X(i8, "i8", "int8_t", 1, Signed)       \
  X(i16, "i16", "int16_t", 2, Signed)    \
  X(i32, "i32", "int32_t", 4, Signed)    \
  X(i64, "i64", "int64_t", 8, Signed)    \
  X(u8, "u8", "uint8_t", 1, Unsigned)    \
  X(u16, "u16", "uint16_t", 2, Unsigned) \
  X(u32, "u32", "uint32_t", 4, Unsigned) \
  X(u64, "u64", "uint64_t", 8, Unsigned) \
  X(f32, "f32", "float", 4, Float)       \
  X(f64, "f64", "double", 8, Float)      \
  X(boolean, "bool", "bool", 1, Bool)

enum class ElementType : std::uint8_t {
#define X(name, ...) name,
  SOUS_ELEMENT_TYPES(X)
#undef X
};

enum class TypeKind : std::uint8_t { Signed, Unsigned, Float, Bool };

struct TypeInfo {
  std::string_view name;  // in .sdfg text and JSON
  std::string_view cpp;   // in generated code
  int bytes;
  TypeKind kind;
};

constexpr TypeInfo info(ElementType type) {
  switch (type) {
#define X(e, text, cpp, bytes, kind) \
  case ElementType::e:               \
    return {text, cpp, bytes, TypeKind::kind};
    SOUS_ELEMENT_TYPES(X)
#undef X
  }
  __builtin_unreachable();
}

constexpr std::optional<ElementType> parse_type(std::string_view name) {
#define X(e, text, ...) \
  if (name == text) return ElementType::e;
  SOUS_ELEMENT_TYPES(X)
#undef X
  return std::nullopt;
}

constexpr bool is_float(ElementType t) { return info(t).kind == TypeKind::Float; }
constexpr bool is_integer(ElementType t) {
  return info(t).kind == TypeKind::Signed || info(t).kind == TypeKind::Unsigned;
}

}  // namespace sous::sdfg
