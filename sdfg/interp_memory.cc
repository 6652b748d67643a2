#include "sdfg/interp_memory.h"

#include <cstring>

#include "sdfg/scalar_eval.h"

namespace sous::sdfg::interp {
namespace {

// Larger containers are refused rather than allocated: the interpreter is for small sizes.
constexpr std::int64_t most_elements = std::int64_t{1} << 40;

std::string written_out(const std::string& container, const std::vector<std::int64_t>& subscript) {
  std::string text = container + "[";
  for (std::size_t d = 0; d < subscript.size(); ++d) text += (d ? ", " : "") + std::to_string(subscript[d]);
  return text + "]";
}

}  // namespace

std::uint64_t Array::load(std::int64_t element) const {
  const auto size = static_cast<std::size_t>(info(type).bytes);
  std::uint64_t bits = 0;  // little-endian hosts only, as are all that the targets serve
  std::memcpy(&bits, bytes.data() + static_cast<std::size_t>(element) * size, size);
  return canonical_bits(type, bits);
}

void Array::store(std::int64_t element, std::uint64_t bits) {
  const auto size = static_cast<std::size_t>(info(type).bytes);
  std::memcpy(bytes.data() + static_cast<std::size_t>(element) * size, &bits, size);
  if (!defined.empty()) defined[static_cast<std::size_t>(element)] = true;
}

Array* Lane::find(const std::string& container) {
  for (Lane* lane = this; lane != nullptr; lane = lane->outer) {
    if (const auto it = lane->own.find(container); it != lane->own.end()) return &it->second;
  }
  return nullptr;
}

std::optional<std::int64_t> span_of(const Array& layout) {
  __int128 lowest = layout.offset;
  __int128 highest = layout.offset;
  for (std::size_t d = 0; d < layout.shape.size(); ++d) {
    if (layout.shape[d] <= 0) return 0;
    const __int128 reach = static_cast<__int128>(layout.shape[d] - 1) * layout.strides[d];
    (reach < 0 ? lowest : highest) += reach;
    if (highest >= most_elements || lowest < -most_elements) return std::nullopt;
  }
  if (lowest < 0) return std::nullopt;
  return static_cast<std::int64_t>(highest) + 1;
}

Result<std::int64_t> evaluate(const Expr& e, Lane& lane) {
  std::optional<Error> failed;
  const auto value = e.evaluate(
      lane.symbols,
      [&](const std::string& container, const std::vector<std::int64_t>& subscript) -> std::optional<std::int64_t> {
        const auto element = [&]() -> Result<std::int64_t> {
          TRY(const Place at, place(container, subscript, lane));
          TRY(const std::uint64_t bits, read(at, container));
          return static_cast<std::int64_t>(bits);
        }();
        if (element) return *element;
        failed = element.error();
        return std::nullopt;
      });
  if (value) return *value;
  if (failed) return std::unexpected(*failed);
  return fail("interp.expr", "'" + e.to_string() + "' cannot be evaluated");
}

Result<Array> layout(const Container& container, Lane& lane) {
  Array array;
  array.type = container.type;
  array.natural = container.natural;
  for (const Expr& e : container.shape) {
    TRY(const std::int64_t extent, evaluate(e, lane));
    array.shape.push_back(extent);
  }
  for (const Expr& e : container.strides) {
    TRY(const std::int64_t stride, evaluate(e, lane));
    array.strides.push_back(stride);
  }
  SOUS_ASSERT(array.shape.size() == array.strides.size());
  TRY(array.offset, evaluate(container.offset, lane));
  return array;
}

Result<Array> undefined_array(const Container& container, Lane& lane) {
  TRY(Array array, layout(container, lane));
  const auto elements = span_of(array);
  if (!elements || *elements > (std::int64_t{1} << 30)) {
    return fail("interp.out-of-bounds", "container '" + container.name + "' is too large or starts before its memory");
  }
  array.bytes.resize(static_cast<std::size_t>(*elements) * static_cast<std::size_t>(info(array.type).bytes));
  // At least one flag, so that an empty transient is not taken for an argument.
  array.defined.assign(static_cast<std::size_t>(std::max<std::int64_t>(*elements, 1)), false);
  return array;
}

Result<Place> place(const std::string& container, const std::vector<std::int64_t>& subscript, Lane& lane) {
  Array* array = lane.find(container);
  if (array == nullptr) return fail("interp.undefined-read", "'" + container + "' does not exist here");
  SOUS_ASSERT(subscript.size() == array->shape.size());
  std::int64_t element = array->offset;
  for (std::size_t d = 0; d < subscript.size(); ++d) {
    if (subscript[d] < 0 || subscript[d] >= array->shape[d]) {
      return fail("interp.out-of-bounds", written_out(container, subscript) + " lies outside of dimension " +
                                              std::to_string(d) + " of extent " + std::to_string(array->shape[d]));
    }
    element += subscript[d] * array->strides[d];
  }
  if (element < 0 ||
      static_cast<std::size_t>(element + 1) * static_cast<std::size_t>(info(array->type).bytes) > array->bytes.size()) {
    return fail("interp.out-of-bounds", written_out(container, subscript) + " lies outside of the memory given");
  }
  return Place{array, element};
}

Result<std::uint64_t> read(const Place& place, const std::string& container) {
  if (!place.array->defined.empty() && !place.array->defined[static_cast<std::size_t>(place.element)]) {
    return fail("interp.undefined-read",
                "element " + std::to_string(place.element) + " of '" + container + "' is read before it is written");
  }
  const std::uint64_t bits = place.array->load(place.element);
  if (place.array->natural && static_cast<std::int64_t>(bits) < 0)
    return fail("interp.assumption", "element " + std::to_string(place.element) + " of '" + container +
                                         "', which holds no negative ones, is " +
                                         std::to_string(static_cast<std::int64_t>(bits)));
  return bits;
}

Result<Store> store_through(const Memlet& memlet, const Place& place, std::uint64_t bits) {
  if (!memlet.combine) return Store{place, bits};
  TRY(const std::uint64_t before, read(place, memlet.container));
  return Store{place, combine(*memlet.combine, place.array->type, before, bits)};
}

Result<void> bind_arguments(const Sdfg& sdfg, Memory& memory, Lane& root) {
  // Scalars first: shapes and strides may read them.
  for (const bool scalars : {true, false}) {
    for (const Container& container : sdfg.containers) {
      if (container.transient || container.shape.empty() != scalars) continue;
      const auto buffer = memory.buffers.find(container.name);
      if (buffer == memory.buffers.end() || buffer->second.type != container.type) {
        return fail("interp.buffer",
                    "no memory of type " + std::string(info(container.type).name) + " for '" + container.name + "'");
      }
      TRY(Array array, layout(container, root));
      const auto elements = span_of(array);
      const auto size = static_cast<std::size_t>(info(container.type).bytes);
      if (!elements || buffer->second.bytes.size() / size < static_cast<std::size_t>(*elements)) {
        return fail("interp.buffer", "the memory for '" + container.name + "' is too small");
      }
      array.bytes = buffer->second.bytes;
      root.own.emplace(container.name, std::move(array));
    }
  }
  return {};
}

}  // namespace sous::sdfg::interp

namespace sous::sdfg {

using interp::Array;
using interp::Lane;

void forget_dead(const Sdfg& sdfg, Memory& memory) {
  constexpr std::byte forgotten{0xDE};
  for (const Container& c : sdfg.containers) {
    const auto buffer = memory.buffers.find(c.name);
    if (c.dead && buffer != memory.buffers.end()) std::ranges::fill(buffer->second.bytes, forgotten);
  }
}

Result<std::int64_t> store_size(const Sdfg& sdfg, const std::string& name,
                                const std::map<std::string, std::int64_t>& symbols) {
  const Container* container = sdfg.find(name);
  if (container == nullptr) return fail("interp.symbol", "no container '" + name + "'");
  Lane lane;
  lane.symbols = symbols;
  TRY(const Array array, interp::layout(*container, lane));
  const auto elements = interp::span_of(array);
  if (!elements) return fail("interp.out-of-bounds", "'" + name + "' is too large or starts before its memory");
  return *elements;
}

}  // namespace sous::sdfg
