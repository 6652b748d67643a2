#include "sdfg/isl_read.h"

#include <isl/mat.h>
#include <isl/val.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "sdfg/isl_rows.h"

namespace sous::sdfg {

namespace {

using std::string;
using std::string_view;

struct Tuple {
  string name;
  std::vector<string> dims;  // "" where a number stands
};

struct Read {
  std::vector<string> parameters;
  std::vector<Tuple> tuples;  // one, or two: a relation
  std::size_t columns = 0;
  Parts parts;
};

class Reader {
 public:
  explicit Reader(string_view text) : text_(text) {}

  // nullopt: what is not understood here.
  std::optional<Read> read() {
    if (peek() == '[') {
      const auto names = list();
      if (!names || !take("->")) return std::nullopt;
      for (const string& name : *names)
        if (!declare(name)) return std::nullopt;
      out_.parameters = *names;
    }
    if (!take("{") || !tuple()) return std::nullopt;
    if (take("->") && !tuple()) return std::nullopt;
    auto parts = std::optional(Parts{{}});
    if (take(":")) parts = disjunction(false);
    if (!parts || !take("}") || peek() != 0) return std::nullopt;
    parts = all_of(std::move(always_), *parts);
    if (!parts) return std::nullopt;
    out_.parts = std::move(*parts);
    return std::move(out_);
  }

 private:
  static bool in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(string_view token) {
    peek();
    if (!text_.substr(at_).starts_with(token)) return false;
    const std::size_t end = at_ + token.size();
    if (in_word(token.back()) && end < text_.size() && in_word(text_[end])) return false;
    at_ = end;
    return true;
  }
  string_view word() {
    peek();
    const std::size_t start = at_;
    while (at_ < text_.size() && in_word(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  // "[a, b]", also without anything in it.
  std::optional<std::vector<string>> list() {
    std::vector<string> items;
    if (!take("[")) return std::nullopt;
    if (take("]")) return items;
    do {
      const bool minus = take("-");
      items.push_back((minus ? "-" : "") + string(word()));
      if (items.back().empty() || items.back() == "-") return std::nullopt;
    } while (take(","));
    return take("]") ? std::optional(std::move(items)) : std::nullopt;
  }

  // A column of that name. False: there is one, or it is no name.
  bool declare(const string& name) {
    if (name[0] == '-' || (name[0] >= '0' && name[0] <= '9')) return false;
    return column_.emplace(name, out_.columns++).second;
  }
  Sum column(std::size_t k) const {
    Sum sum;
    sum.of.resize(k + 1);
    sum.of[k] = 1;
    return sum;
  }

  bool tuple() {
    Tuple& tuple = out_.tuples.emplace_back();
    tuple.name = word();
    const auto items = list();
    if (!items) return false;
    for (const string& item : *items) {
      Sum value;
      const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), value.constant);
      const bool number = error == std::errc() && end == item.data() + item.size();
      if (!number && !declare(item)) return false;
      tuple.dims.push_back(number ? "" : item);
      if (!number) continue;
      const auto difference = plus(value, column(out_.columns++), -1);
      if (!difference) return false;
      for (Rows& rows : always_) rows.zero.push_back(*difference);
    }
    return true;
  }

  // `negated`: what is read here and everything below is not to hold.
  std::optional<Parts> disjunction(bool negated) {
    auto parts = conjunction(negated);
    while (parts && take("or")) {
      const auto next = conjunction(negated);
      if (!next) return std::nullopt;
      parts = negated ? all_of(std::move(*parts), *next) : any_of(std::move(*parts), *next);
    }
    return parts;
  }

  std::optional<Parts> conjunction(bool negated) {
    auto parts = condition(negated);
    while (parts && take("and")) {
      const auto next = condition(negated);
      if (!next) return std::nullopt;
      parts = negated ? any_of(std::move(*parts), *next) : all_of(std::move(*parts), *next);
    }
    return parts;
  }

  std::optional<Parts> condition(bool negated) {
    if (take("true")) return negated ? never() : Parts{{}};
    if (take("false")) return negated ? Parts{{}} : never();
    if (take("exists")) return negated ? std::nullopt : exists();
    if (take("not")) return condition(!negated);
    if (peek() != '(' || !compares()) return comparison(negated);
    take("(");
    auto parts = disjunction(negated);
    return take(")") ? parts : std::nullopt;
  }
  static Parts never() { return {{.zero = {}, .not_negative = {Sum{-1, {}}}}}; }

  std::optional<Parts> exists() {
    if (!take("(")) return std::nullopt;
    do {
      if (!declare(string(word()))) return std::nullopt;
    } while (take(","));
    if (!take(":")) return std::nullopt;
    auto parts = disjunction(false);
    return take(")") ? parts : std::nullopt;
  }

  // Whether a comparison stands in the parentheses that open here.
  bool compares() const {
    int open = 0;
    for (std::size_t k = at_; k < text_.size(); ++k) {
      const char c = text_[k];
      open += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (open == 0) return false;
      if (c == '<' || c == '>' || c == '=') return true;
    }
    return false;
  }

  std::optional<Parts> comparison(bool negated) {
    const auto left = sum();
    if (!left) return std::nullopt;
    string_view kind;
    for (const string_view one : {"<=", ">=", "!=", "<", ">", "="})
      if (kind.empty() && take(one)) kind = one;
    const auto right = kind.empty() ? std::nullopt : sum();
    if (!right || peek() == '<' || peek() == '>' || peek() == '=' || peek() == '!') return std::nullopt;
    const bool compares_equal = kind == "=" || kind == "!=";
    if (compares_equal && (kind == "=") == negated) return unequal(*left, *right);
    // not a <= b is a > b, and a > b is a - b - 1 >= 0.
    const bool up = (kind[0] == '>') != negated, strict = !compares_equal && (kind.size() == 1) != negated;
    Rows rows;
    std::vector<Sum>& to = compares_equal ? rows.zero : rows.not_negative;
    const bool fits = up ? add(to, *left, *right, strict) : add(to, *right, *left, strict);
    return fits ? std::optional(Parts{std::move(rows)}) : std::nullopt;
  }
  static std::optional<Parts> unequal(const Sum& a, const Sum& b) {
    Rows less, more;
    const bool fit = add(less.not_negative, b, a, 1) && add(more.not_negative, a, b, 1);
    return fit ? std::optional(Parts{std::move(less), std::move(more)}) : std::nullopt;
  }

  // Keeps a - b - less.
  static bool add(std::vector<Sum>& to, const Sum& a, const Sum& b, std::int64_t less) {
    auto row = plus(a, b, -1);
    if (row) row = plus(*row, Sum{less, {}}, -1);
    if (row) to.push_back(std::move(*row));
    return row.has_value();
  }

  std::optional<Sum> sum() {
    auto total = product();
    while (total) {
      const bool minus = take("-");
      if (!minus && !take("+")) break;
      const auto next = product();
      total = next ? plus(*total, *next, minus ? -1 : 1) : std::nullopt;
    }
    return total;
  }

  std::optional<Sum> product() {
    auto all = factor();
    while (all && take("*")) {
      auto next = factor();
      if (!next) return std::nullopt;
      if (!all->is_constant()) std::swap(all, next);
      if (!all->is_constant()) return std::nullopt;
      all = plus({}, *next, all->constant);
    }
    return all;
  }

  std::optional<Sum> factor() {
    if (take("-")) {
      const auto value = factor();
      return value ? plus({}, *value, -1) : std::nullopt;
    }
    if (take("(")) {
      auto value = sum();
      if (!value || !take(")")) return std::nullopt;
      return take("mod") ? quotient(*value, true) : value;
    }
    if (take("floor")) {
      if (!take("(") || !take("(")) return std::nullopt;
      auto value = sum();
      if (value) value = take(")") && take("/") ? quotient(*value, false) : std::nullopt;
      return value && take(")") ? value : std::nullopt;
    }
    for (const bool least : {true, false})
      if (take(least ? "min" : "max")) return extreme(least);
    if (peek() >= '0' && peek() <= '9') return number();
    const auto known = column_.find(word());
    return known == column_.end() ? std::nullopt : std::optional(column(known->second));
  }

  std::optional<Sum> number() {
    const string_view digits = word();
    Sum value;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value.constant);
    return error == std::errc() && end == digits.data() + digits.size() ? std::optional(value) : std::nullopt;
  }

  // floor(value / divisor), or what is left: with an unknown q, 0 <= value - divisor * q <= divisor - 1. The divisor
  // comes next in the text.
  std::optional<Sum> quotient(const Sum& value, bool remainder) {
    if (peek() < '0' || peek() > '9') return std::nullopt;
    const auto divisor = number();
    if (!divisor || divisor->constant <= 0) return std::nullopt;
    const auto same = std::ranges::find_if(
        quotients_, [&](const Quotient& q) { return q.divisor == divisor->constant && q.value == value; });
    const std::size_t q = same == quotients_.end() ? out_.columns++ : same->column;
    const auto left = plus(value, column(q), -divisor->constant);
    if (!left) return std::nullopt;
    if (same == quotients_.end()) {
      quotients_.push_back({value, divisor->constant, q});
      for (Rows& rows : always_) {
        if (!add(rows.not_negative, *left, {}, 0)) return std::nullopt;
        if (!add(rows.not_negative, Sum{divisor->constant, {}}, *left, 1)) return std::nullopt;
      }
    }
    return remainder ? *left : column(q);
  }

  // The least or the greatest of what stands in parentheses.
  std::optional<Sum> extreme(bool least) {
    auto all = take("(") ? sum() : std::nullopt;
    while (all && take(",")) {
      const auto next = sum();
      all = next ? extreme(*all, *next, least) : std::nullopt;
    }
    return all && take(")") ? all : std::nullopt;
  }

  // Of two: an unknown that is the first where that is at least as small (great), and the second elsewhere.
  std::optional<Sum> extreme(const Sum& a, const Sum& b, bool least) {
    const auto same = std::ranges::find_if(
        extremes_, [&](const Extreme& e) { return e.least == least && e.first == a && e.second == b; });
    if (same != extremes_.end()) return column(same->column);
    const std::size_t q = extremes_.emplace_back(a, b, least, out_.columns++).column;
    Rows first, second;
    const Sum &low = least ? a : b, &high = least ? b : a;
    if (!add(first.zero, column(q), a, 0) || !add(first.not_negative, high, low, 0)) return std::nullopt;
    if (!add(second.zero, column(q), b, 0) || !add(second.not_negative, low, high, 1)) return std::nullopt;
    auto either = all_of(std::move(always_), {std::move(first), std::move(second)});
    if (!either) return std::nullopt;
    always_ = std::move(*either);
    return column(q);
  }

  struct Extreme {
    Sum first, second;
    bool least = false;
    std::size_t column = 0;
  };
  struct Quotient {
    Sum value;
    std::int64_t divisor = 1;
    std::size_t column = 0;
  };

  string_view text_;
  std::size_t at_ = 0;
  Read out_;
  Parts always_{{}};  // what the tuples say, and of unknowns what they are: each quotient has a value
  std::map<string, std::size_t, std::less<>> column_;
  std::vector<Quotient> quotients_;
  std::vector<Extreme> extremes_;
};

isl_mat* matrix(isl_ctx* context, const std::vector<Sum>& rows, std::size_t columns) {
  isl_mat* out = isl_mat_alloc(context, static_cast<unsigned>(rows.size()), static_cast<unsigned>(columns + 1));
  const auto set = [&](std::size_t row, std::size_t column, std::int64_t value) {
    const int r = static_cast<int>(row), c = static_cast<int>(column);
    if (value == static_cast<int>(value)) {
      out = isl_mat_set_element_si(out, r, c, static_cast<int>(value));
    } else {
      out = isl_mat_set_element_val(out, r, c, isl_val_int_from_si(context, value));
    }
  };
  for (std::size_t r = 0; r < rows.size(); ++r) {
    set(r, 0, rows[r].constant);
    for (std::size_t c = 0; c < columns; ++c) set(r, c + 1, c < rows[r].of.size() ? rows[r].of[c] : 0);
  }
  return out;
}

isl_space* space_of(isl_ctx* context, const Read& c) {
  const auto count = [](const auto& of) { return static_cast<unsigned>(of.size()); };
  const auto parameters = count(c.parameters);
  const bool relation = c.tuples.size() == 2;
  isl_space* space = relation ? isl_space_alloc(context, parameters, count(c.tuples[0].dims), count(c.tuples[1].dims))
                              : isl_space_set_alloc(context, parameters, count(c.tuples[0].dims));
  const auto name = [&](isl_dim_type type, const std::vector<string>& names) {
    for (unsigned k = 0; k < names.size(); ++k)
      if (!names[k].empty()) space = isl_space_set_dim_name(space, type, k, names[k].c_str());
  };
  name(isl_dim_param, c.parameters);
  for (std::size_t k = 0; k < c.tuples.size(); ++k) {
    const isl_dim_type type = !relation ? isl_dim_set : k == 0 ? isl_dim_in : isl_dim_out;
    name(type, c.tuples[k].dims);
    if (!c.tuples[k].name.empty()) space = isl_space_set_tuple_name(space, type, c.tuples[k].name.c_str());
  }
  return space;
}

}  // namespace

IslSet read_isl_set(isl_ctx* context, const string& text) {
  const auto read = Reader(text).read();
  if (!read || read->tuples.size() != 1) return IslSet(isl_set_read_from_str(context, text.c_str()));
  IslSet all(isl_set_empty(space_of(context, *read)));
  for (const Rows& rows : read->parts)
    all = IslSet(isl_set_union(all.release(), isl_set_from_basic_set(isl_basic_set_from_constraint_matrices(
                                                  space_of(context, *read), matrix(context, rows.zero, read->columns),
                                                  matrix(context, rows.not_negative, read->columns), isl_dim_cst,
                                                  isl_dim_param, isl_dim_set, isl_dim_div))));
  return all;
}

IslMap read_isl_map(isl_ctx* context, const string& text) {
  const auto read = Reader(text).read();
  if (!read || read->tuples.size() != 2) return IslMap(isl_map_read_from_str(context, text.c_str()));
  IslMap all(isl_map_empty(space_of(context, *read)));
  for (const Rows& rows : read->parts)
    all = IslMap(isl_map_union(all.release(), isl_map_from_basic_map(isl_basic_map_from_constraint_matrices(
                                                  space_of(context, *read), matrix(context, rows.zero, read->columns),
                                                  matrix(context, rows.not_negative, read->columns), isl_dim_cst,
                                                  isl_dim_param, isl_dim_in, isl_dim_out, isl_dim_div))));
  return all;
}

}  // namespace sous::sdfg
