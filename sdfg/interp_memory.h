// What the interpreter runs on: containers at run time, and lanes, which see them. Not for others to include.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sdfg/interp.h"
#include "sdfg/sdfg.h"

namespace sous::sdfg::interp {

// One instance of a container.
struct Array {
  ElementType type = ElementType::f64;
  std::vector<std::int64_t> shape, strides;
  std::int64_t offset = 0;
  std::vector<std::byte> bytes;
  std::vector<bool> defined;  // per element; empty: all are (arguments)
  bool natural = false;       // Container::natural
  bool operator==(const Array&) const = default;

  std::uint64_t load(std::int64_t element) const;
  void store(std::int64_t element, std::uint64_t bits);
};

// One element of an Array, known to be in bounds.
struct Place {
  Array* array = nullptr;
  std::int64_t element = 0;
};

// A thread of control: the values of symbols, and the containers that only it sees. A loop iteration is a lane whose
// `outer` is the lane that entered the loop; a Simd loop runs several such lanes in lockstep.
struct Lane {
  Lane* outer = nullptr;
  std::map<std::string, std::int64_t> symbols;  // all of them, those of outer loops included
  std::map<std::string, Array> own;

  Array* find(const std::string& container);  // own first, then outwards; null if no lane has it
};

// Elements that an array of this layout spans: 1 + the largest offset of any in-bounds element, 0 if there is none.
// nullopt: more than 2^40, or an element before the first one.
std::optional<std::int64_t> span_of(const Array& layout);

// Type, shape, strides and offset of `container`, without elements.
Result<Array> layout(const Container& container, Lane& lane);
// The same with elements, all undefined.
Result<Array> undefined_array(const Container& container, Lane& lane);

// Moves the argument buffers into the root lane. Error: interp.buffer.
Result<void> bind_arguments(const Sdfg& sdfg, Memory& memory, Lane& root);

// Value of an expression; reads are bounds-checked and must be defined.
// Errors: interp.expr, interp.out-of-bounds, interp.undefined-read.
Result<std::int64_t> evaluate(const Expr& e, Lane& lane);

// The element container[subscript].
Result<Place> place(const std::string& container, const std::vector<std::int64_t>& subscript, Lane& lane);
// Its value. Errors: interp.undefined-read, interp.assumption.
Result<std::uint64_t> read(const Place& place, const std::string& container);

// A store that is decided but not yet done: all reads of a node come before all its writes.
struct Store {
  Place place;
  std::uint64_t bits = 0;
};

// A value on its way through `memlet` to `place`: combined with what lies there if the memlet says so.
Result<Store> store_through(const Memlet& memlet, const Place& place, std::uint64_t bits);

}  // namespace sous::sdfg::interp
