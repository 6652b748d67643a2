// memset, memcpy and memmove: the loops over elements that they stand for.
#include <string>
#include <utility>

#include "clang/Basic/Builtins.h"
#include "frontends/c/builder.h"
#include "frontends/c/memory_functions.h"
#include "sdfg/planted_fault.h"
#include "sdfg/unknown_extent.h"

namespace sous::frontends::c {

using sdfg::ElementType;
using sdfg::Expr;
using sdfg::ScalarExpr;

std::optional<MemoryFunction> memory_function(const clang::CallExpr* call) {
  const clang::FunctionDecl* callee = call->getDirectCallee();
  if (!callee || callee->getDefinition() || call->getNumArgs() != 3) return std::nullopt;
  switch (callee->getBuiltinID()) {
    case clang::Builtin::BImemset:
    case clang::Builtin::BI__builtin_memset:
      return MemoryFunction::Set;
    case clang::Builtin::BImemcpy:
    case clang::Builtin::BI__builtin_memcpy:
      return MemoryFunction::Copy;
    case clang::Builtin::BImemmove:
    case clang::Builtin::BI__builtin_memmove:
      return MemoryFunction::Move;
    default:
      return std::nullopt;
  }
}

namespace {

// The pointer before its conversion to `void *`.
const clang::Expr* typed(const clang::Expr* e) {
  e = e->IgnoreParens();
  while (const auto* cast = llvm::dyn_cast<clang::CastExpr>(e)) {
    const bool same = cast->getCastKind() == clang::CK_BitCast || cast->getCastKind() == clang::CK_NoOp;
    if (!same || !cast->getType()->isVoidPointerType()) break;
    e = cast->getSubExpr()->IgnoreParens();
  }
  return e;
}

// Every byte of the element the same: nullopt where that is no value of the type that C names.
std::optional<ScalarExpr> repeated_byte(std::int64_t byte, ElementType type) {
  byte &= 0xff;
  if (byte == 0) return sdfg::is_float(type) ? ScalarExpr::real(0, type) : ScalarExpr::integer(0, type);
  if (sdfg::is_float(type) || type == ElementType::boolean) return std::nullopt;
  const int bits = 8 * sdfg::info(type).bytes;
  std::uint64_t all = 0;
  for (int k = 0; k < bits; k += 8) all |= static_cast<std::uint64_t>(byte) << k;
  const bool negative = sdfg::info(type).kind == sdfg::TypeKind::Signed && (byte & 0x80) != 0 && bits < 64;
  return ScalarExpr::integer(static_cast<std::int64_t>(negative ? all | (~std::uint64_t{0} << bits) : all), type);
}

// The loops over `extents` around what `body` makes of their variables.
sdfg::Node loops_over(const std::vector<Expr>& extents, const std::vector<std::string>& symbols, sdfg::Node inner) {
  for (std::size_t d = extents.size(); d-- > 0;) {
    sdfg::Loop loop = sdfg::counted(symbols[d], Expr(0), extents[d]);
    loop.body.nodes.push_back(std::move(inner));
    inner = std::move(loop);
  }
  return inner;
}

}  // namespace

// How many elements, or rows of them, `bytes` are from the place on.
Lift<Block> Builder::block_at(const clang::Expr* argument, const Expr& bytes) {
  const clang::SourceLocation where = argument->getExprLoc();
  const clang::Expr* e = typed(argument);
  if (!e->getType()->isPointerType()) return refuse("c.pointer", "this pointer is not understood", where);
  clang::QualType pointee = e->getType()->getPointeeType();
  const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e);
  const bool whole = u && u->getOpcode() == clang::UO_AddrOf && pointee->isArrayType();  // &a
  Block block;
  if (whole) {
    TRY(block.first, lvalue(u->getSubExpr()));
    block.first.subscript.push_back(Expr(0));
  } else {
    TRY(block.first, pointer(e));
  }
  const clang::QualType element = context_.getBaseElementType(pointee);
  const sdfg::Container* c = sdfg_.find(block.first.container);
  if (element_type(element, context_) != c->type || block.first.subscript.empty())
    return refuse("c.call.unknown-effects", "bytes of another type than " + element.getAsString(), where);
  auto& at = block.first.subscript;
  while (true) {
    block.extents = {Expr(0)};
    Expr unit(sdfg::info(c->type).bytes);
    for (std::size_t d = at.size(); d < c->shape.size(); ++d) {
      unit = unit * c->shape[d];
      block.extents.push_back(c->shape[d]);
    }
    const Expr count = Expr::floor_div(bytes, unit);
    block.extents[0] = count;
    const Expr& extent = c->shape[at.size() - 1];
    // Of an array's outermost extent the program itself is sure.
    const bool inside =
        at.size() == 1 || extent == Expr(sdfg::unknown_extent) || ranges_.nonneg(extent - at.back() - count, box_);
    if (count * unit == bytes && inside) return block;
    if (at.size() == 1 || at.back() != Expr(0))
      return refuse("c.call.unknown-effects", "a number of bytes that is not surely one of whole elements or rows",
                    where);
    at.pop_back();
  }
}

// The same elements again, as the loops' variables count them.
Access Builder::element_of_block(const Block& block, const std::vector<std::string>& symbols) {
  Access element = block.first;
  element.subscript.back() = element.subscript.back() + Expr::symbol(symbols[0]);
  for (std::size_t d = 1; d < symbols.size(); ++d) element.subscript.push_back(Expr::symbol(symbols[d]));
  return element;
}

std::vector<std::string> Builder::block_symbols(const Block& block, clang::SourceLocation where) {
  std::vector<std::string> symbols;
  for (std::size_t d = 0; d < block.extents.size(); ++d) {
    symbols.push_back(fresh("k"));
    note_line(symbols.back(), where);
  }
  return symbols;
}

void Builder::fill_block(const Block& block, const ScalarExpr& with, clang::SourceLocation where) {
  const std::vector<std::string> symbols = block_symbols(block, where);
  const Access to = element_of_block(block, symbols);
  ScalarExpr code = with;
  std::vector<sdfg::Memlet> inputs = compact(code);
  emit(loops_over(block.extents, symbols,
                  sdfg::assignment("s" + std::to_string(statements_++), {to.container, to.subscript, std::nullopt},
                                   std::move(code), std::move(inputs))));
}

Lift<void> Builder::memory_call(const clang::CallExpr* e, MemoryFunction function) {
  const clang::SourceLocation where = e->getExprLoc();
  for (const clang::Expr* argument : e->arguments())
    if (argument->HasSideEffects(context_)) return refuse("c.side-effect", "a side effect in an argument", where);
  pool_.clear();
  TRY(const Expr bytes, index(e->getArg(2)));
  TRY(Block to, block_at(e->getArg(0), bytes));
  settle(to.first.subscript);
  const ElementType type = sdfg_.find(to.first.container)->type;
  if (function == MemoryFunction::Set) {
    const auto byte = constant_value(e->getArg(1), context_);
    if (const auto with = byte ? repeated_byte(*byte, type) : std::nullopt) {
      fill_block(to, *with, where);
      return {};
    }
    if (sdfg::info(type).bytes != 1 || type == ElementType::boolean)
      return refuse("c.call.unknown-effects", "memset with bytes that are no values of the elements", where);
    pool_.clear();
    TRY(ScalarExpr with, value(e->getArg(1)));
    fill_block(to, ScalarExpr::cast(std::move(with), type), where);
    return {};
  }
  TRY(Block from, block_at(e->getArg(1), bytes));
  settle(from.first.subscript);
  // Rows on one side and the same number of elements in one row on the other.
  const std::vector<Expr> extents = from.extents.size() > to.extents.size() ? from.extents : to.extents;
  const auto fits = [&](const Block& block) {
    Expr elements(1);
    for (const Expr& extent : extents) elements = elements * extent;
    return block.extents == extents || (block.extents.size() == 1 && block.extents[0] == elements);
  };
  if (!fits(from) || !fits(to) || sdfg_.find(from.first.container)->type != type)
    return refuse("c.call.unknown-effects", "bytes copied from other elements than to", where);
  if (function == MemoryFunction::Move) {
    // Forwards, what is written has been read before only where it lies ahead of what is read.
    Expr ahead(-1);
    if (from.first.container == to.first.container && from.first.subscript.size() == 1 &&
        to.first.subscript.size() == 1)
      ahead = from.first.subscript[0] - to.first.subscript[0];
    if (!ranges_.nonneg(ahead, box_) && !planted(Fault::moved_backwards))
      return refuse("c.call.unknown-effects", "memmove that may have to go backwards", where);
  }
  const std::vector<std::string> symbols = block_symbols(from.extents == extents ? from : to, where);
  const auto element = [&](const Block& block) {
    if (block.extents == extents) return element_of_block(block, symbols);
    Access one = block.first;
    Expr at(0);
    for (std::size_t d = 0; d < extents.size(); ++d) at = at * extents[d] + Expr::symbol(symbols[d]);
    one.subscript.back() = one.subscript.back() + at;
    return one;
  };
  const Access source = element(from), target = element(to);
  pool_.clear();
  ScalarExpr code = input({source.container, source.subscript, std::nullopt}, type);
  std::vector<sdfg::Memlet> inputs = compact(code);
  emit(loops_over(
      extents, symbols,
      sdfg::assignment("s" + std::to_string(statements_++), {target.container, target.subscript, std::nullopt},
                       std::move(code), std::move(inputs))));
  return {};
}

}  // namespace sous::frontends::c
