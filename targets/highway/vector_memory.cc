// Loads and stores of a vector loop.
#include <algorithm>

#include "sdfg/planted_fault.h"
#include "targets/highway/vector_loop.h"

namespace sous::targets {

using sdfg::ElementType;
using sdfg::Expr;

VectorLoop::Access VectorLoop::access(const sdfg::Memlet& memlet) const {
  const Expr place = expressions_.offset(memlet);
  if (!differs(place)) return {Access::Kind::Uniform, {}};
  for (const std::string& read : place.reads()) {
    if (variables_.contains(read)) return {Access::Kind::Any, {}};
  }
  const auto coefficient = sdfg::coefficient_of(place, loop_.symbol);
  if (!coefficient) return {Access::Kind::Any, {}};
  const Expr stride = *coefficient * Expr(loop_.step);
  if (stride == Expr(1)) return {Access::Kind::Contiguous, stride};
  if (stride == Expr(-1) && planted(Fault::reversed_as_forward)) return {Access::Kind::Contiguous, stride};
  if (stride == Expr(-1)) return {Access::Kind::Reversed, stride};
  return {Access::Kind::Strided, planted(Fault::stride_off_by_one) ? stride + 1 : stride};
}

bool VectorLoop::distinct(const sdfg::Memlet& memlet) const {
  const Access where = access(memlet);
  return where.kind != Access::Kind::Any && where.kind != Access::Kind::Uniform &&
         where.stride.constant().value_or(0) != 0;
}

std::string VectorLoop::pointer(const sdfg::Memlet& memlet, bool constant) {
  std::string text = "&" + expressions_.element(memlet).text;
  if (expressions_.container(memlet.container).type != ElementType::boolean) return text;
  return std::string("reinterpret_cast<") + (constant ? "const " : "") + "uint8_t*>(" + text + ")";
}

// The element of lane `lane_`, a variable; temporaries in its subscripts are first written out.
Text VectorLoop::lane_element(const sdfg::Memlet& memlet) {
  const auto locals = expressions_.locals;
  for (const std::string& read : expressions_.offset(memlet).reads()) {
    const auto variable = variables_.find(read);
    if (variable == variables_.end()) continue;
    if (variable->second.array || variable->second.type == ElementType::boolean) {
      fail("a subscript reads the private array " + read);
      return {};
    }
    const std::string d = tag(variable->second.type);
    const std::string spilled = names_.fresh(names_.of(read) + "_lanes");
    printer_.out.line("sous::Lanes<decltype(" + d + ")> " + spilled + "(" + d + ", " + variable->second.name + ");");
    expressions_.locals[read] = spilled + "[static_cast<size_t>(" + lane_ + ")]";
  }
  expressions_.symbols[loop_.symbol] = lane_index();
  const Text element = expressions_.element(memlet);
  set_first(first_);
  expressions_.locals = locals;
  return element;
}

// A private array's elements are vectors: its subscripts are the same in all lanes.
std::string VectorLoop::element_of(const Variable& variable, const sdfg::Memlet& memlet) {
  if (!variable.array) return variable.name;
  const Expr place = expressions_.offset(memlet);
  if (differs(place)) fail("the lanes use different elements of the private array " + memlet.container);
  return variable.name + "[" + expressions_.index(place).text + "]";
}

std::optional<std::int64_t> VectorLoop::room(const sdfg::Memlet& memlet) const {
  const sdfg::Container& c = expressions_.container(memlet.container);
  const std::int64_t lanes = std::get<sdfg::Simd>(loop_.schedule).lanes;
  if (c.storage != sdfg::Storage::registers || c.type == ElementType::boolean || lanes < 1 || loop_.step != 1 ||
      c.shape.empty() || memlet.combine || access(memlet).kind != Access::Kind::Contiguous)
    return std::nullopt;
  const auto width = c.shape.back().constant();
  const bool begins_row = memlet.subset.back() == Expr::symbol(loop_.symbol) - loop_.begin;
  if (!width || *width % lanes != 0 || !begins_row || c.strides.back() != Expr(1)) return std::nullopt;
  return width;
}

Value VectorLoop::load(const sdfg::Memlet& memlet) {
  const sdfg::Container& c = expressions_.container(memlet.container);
  if (const auto variable = variables_.find(c.name); variable != variables_.end()) {
    const std::string element = element_of(variable->second, memlet);
    if (c.type == ElementType::boolean) return mask_value(element, mask_type());
    return vector_value(element, c.type);
  }
  if (const auto value = carried(memlet)) return *value;
  const Access where = access(memlet);
  if (where.kind == Access::Kind::Uniform) {
    Value value;
    value.text = expressions_.element(memlet);
    value.type = c.type;
    value.invariant = is_invariant(expressions_.offset(memlet)) && !is_written(c.name);
    value.faults = !c.shape.empty() || expressions_.by_pointer(c.name);
    return value;
  }
  if (const auto tile = transposed_.find(expressions_.element(memlet).text); tile != transposed_.end()) {
    return vector_value(tile->second, c.type);
  }
  if (mask_.empty() && (where.kind == Access::Kind::Contiguous || where.kind == Access::Kind::Reversed))
    printer_.prefetch(memlet);
  const std::string d = tag(c.type);
  std::string text;
  const bool indirect = c.type == ElementType::boolean && where.kind != Access::Kind::Contiguous;
  if (indirect || where.kind == Access::Kind::Any) {
    const Text element = lane_element(memlet);
    text = "sous::gather(" + d + with_mask(c.type) + ", [&](int64_t " + lane_ + ") { return " + element.text + "; })";
  } else if (where.kind == Access::Kind::Contiguous) {
    text = mask_.empty() || room(memlet) ? "hn::LoadU(" + d + ", " + pointer(memlet, true) + ")"
                                         : "sous::load(" + d + with_mask(c.type) + ", " + pointer(memlet, true) + ")";
  } else if (where.kind == Access::Kind::Reversed) {
    text = "sous::load_reversed(" + d + with_mask(c.type) + ", " + pointer(memlet, true) + ")";
  } else {
    text = "sous::load_strided(" + d + with_mask(c.type) + ", " + pointer(memlet, true) + ", " +
           expressions_.index(where.stride).text + ")";
  }
  const std::string name = names_.fresh(names_.of(c.name) + "_v");
  printer_.out.line("const auto " + name + " = " + text + ";");
  if (c.type != ElementType::boolean) return vector_value(name, c.type);
  return mask_value("hn::Not(hn::Eq(" + name + ", hn::Zero(" + d + ")))", ElementType::u8);
}

std::string VectorLoop::stored_vector(const Value& value, ElementType type) {
  if (type != ElementType::boolean) return vector(value, type);
  const std::string d = tag(ElementType::u8);
  return "hn::IfThenElseZero(" + mask(value, ElementType::u8) + ", hn::Set(" + d + ", uint8_t{1}))";
}

void VectorLoop::store(const sdfg::Memlet& memlet, const Value& value) {
  const sdfg::Container& c = expressions_.container(memlet.container);
  if (const auto variable = variables_.find(c.name); variable != variables_.end()) {
    if (memlet.combine) return fail("several results at once, one of them combined");
    return store_variable(c.name, element_of(variable->second, memlet), value);
  }
  const Access where = access(memlet);
  if (where.kind == Access::Kind::Uniform) return store_uniform(memlet, value);
  const std::string d = tag(c.type);
  const std::string vector = stored_vector(value, c.type);
  Lines& out = printer_.out;
  if (const auto carried = carried_.find(c.name); carried != carried_.end()) {
    const std::string& now = carried->second.names[0];
    carried->second.made = true;
    return out.line(now + " = " +
                    (mask_.empty() ? vector : "hn::IfThenElse(" + active(c.type) + ", " + vector + ", " + now + ")") +
                    ";");
  }
  const bool indirect = c.type == ElementType::boolean && where.kind != Access::Kind::Contiguous;
  if (indirect || memlet.combine || where.kind == Access::Kind::Any) {
    const Text element = lane_element(memlet);
    const std::string x = names_.fresh("x");
    const bool is_bool = c.type == ElementType::boolean;
    const Text lane_value = is_bool ? Text{x + " != 0", Binding::Other} : Text{x};
    const Text stored =
        memlet.combine ? expressions_.combined(*memlet.combine, c.type, element, lane_value) : lane_value;
    out.line("sous::scatter(" + d + with_mask(c.type) + ", " + vector + ", [&](int64_t " + lane_ + ", " +
             (is_bool ? "uint8_t" : value_type(c.type)) + " " + x + ") { " + element.text + " = " + stored.text +
             "; });");
  } else if (!mask_.empty() && !planted(Fault::masked_store_whole) && room(memlet)) {
    // Compilers keep in registers what is loaded and stored whole.
    const std::string to = pointer(memlet, false);
    out.line("hn::StoreU(hn::IfThenElse(" + active(c.type) + ", " + vector + ", hn::LoadU(" + d + ", " + to + ")), " +
             d + ", " + to + ");");
  } else if (where.kind == Access::Kind::Contiguous) {
    out.line(mask_.empty() || planted(Fault::masked_store_whole)
                 ? "hn::StoreU(" + vector + ", " + d + ", " + pointer(memlet, false) + ");"
                 : "sous::store(" + d + with_mask(c.type) + ", " + vector + ", " + pointer(memlet, false) + ");");
  } else if (where.kind == Access::Kind::Reversed) {
    out.line("sous::store_reversed(" + d + with_mask(c.type) + ", " + vector + ", " + pointer(memlet, false) + ");");
  } else {
    out.line("sous::store_strided(" + d + with_mask(c.type) + ", " + vector + ", " + pointer(memlet, false) + ", " +
             expressions_.index(where.stride).text + ");");
  }
}

void VectorLoop::store_variable(const std::string& container, const std::string& element, const Value& value) {
  const Variable& variable = variables_.at(container);
  const bool is_mask = variable.type == ElementType::boolean, is_free = free_.contains(container);
  std::string text = is_mask ? mask(value, mask_type()) : vector(value, variable.type);
  // Lanes that are not active keep what they have; those past the end of the loop matter only where lanes meet.
  const std::string& changed = is_free ? free_mask_ : mask_;
  if (is_free ? !free_mask_.empty() : conditional_ || (variable.accumulator && !mask_.empty())) {
    text = is_mask ? "sous::blend_mask<decltype(" + mask_tag() + ")>(" + changed + ", " + text + ", " + element + ")"
                   : "hn::IfThenElse(" + converted(changed, mask_type(), variable.type) + ", " + text + ", " + element +
                         ")";
  }
  printer_.out.line(element + " = " + text + ";");
}

// An element that all lanes write: the last one's value stays.
void VectorLoop::store_uniform(const sdfg::Memlet& memlet, const Value& value) {
  if (memlet.combine) return fail("all lanes update one element of " + memlet.container);
  const sdfg::Container& c = expressions_.container(memlet.container);
  const std::string element = expressions_.element(memlet).text;
  if (value.kind == Value::Kind::Uniform) {
    printer_.out.line(element + " = " + value.text.text + ";");
    return;
  }
  const std::string last =
      "sous::last_lane(" + tag(c.type) + with_mask(c.type) + ", " + stored_vector(value, c.type) + ")";
  printer_.out.line(element + " = " + last + (c.type == ElementType::boolean ? " != 0;" : ";"));
}

}  // namespace sous::targets
