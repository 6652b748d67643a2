// Statements of a PostgreSQL store, and the cursors by which large results come in pieces.
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "tuning-db/libpq.h"
#include "tuning-db/postgres.h"

namespace sous::tuning_db {
namespace {

constexpr unsigned int type_of_booleans = 16;  // in pg_type, for ever

// "?" and "?1" as "$1"; texts in quotes are left alone.
std::string numbered(std::string_view sql) {
  std::string out;
  int last = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    quoted ^= sql[i] == '\'';
    if (sql[i] != '?' || quoted) {
      out += sql[i];
      continue;
    }
    out += '$';
    if (i + 1 == sql.size() || sql[i + 1] < '0' || sql[i + 1] > '9') out += std::to_string(++last);
  }
  return out;
}

class PostgresStatement final : public DriverStatement {
 public:
  PostgresStatement(PostgresConnection& db, const std::string& sql, Rows rows)
      : db_(db), sql_(numbered(sql)), rows_(rows) {}
  ~PostgresStatement() override {
    if (cursor_) db_.close(*cursor_);
  }

  void bind(std::string_view text) override {
    has_zero_ = has_zero_ || text.find('\0') != std::string_view::npos;
    parameters_.push_back({std::string(text)});
  }
  void bind(double value) override {
    std::array<char, 40> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
    parameters_.push_back({std::string(text.data(), end)});
  }
  void bind(std::int64_t value) override { parameters_.push_back({std::to_string(value)}); }
  void bind(const FeatureVector& vector) override {
    parameters_.push_back(
        {std::string(reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float)), true});
  }

  Result<bool> step() override {
    if (!reply_) {
      if (has_zero_) return fail("db.io", "PostgreSQL keeps no text with a zero byte");
      if (rows_ == Rows::many) {
        TRY(cursor_, db_.open_cursor(sql_, parameters_));
      }
      TRY(reply_, cursor_ ? db_.next_piece(*cursor_) : db_.ask(sql_, parameters_));
    }
    if (++row_ < libpq()->PQntuples(reply_.get())) return true;
    if (!cursor_ || row_ < PostgresConnection::rows_of_a_piece) return false;
    TRY(reply_, db_.next_piece(*cursor_));
    row_ = 0;
    return libpq()->PQntuples(reply_.get()) > 0;
  }
  std::int64_t changed() const override {
    const std::string_view count = libpq()->PQcmdTuples(reply_.get());
    std::int64_t number = 0;
    std::from_chars(count.data(), count.data() + count.size(), number);
    return number;
  }

  std::string text(int column) const override { return std::string(view(column)); }
  double real(int column) const override { return parse<double>(view(column)); }
  std::int64_t integer(int column) const override {
    if (libpq()->PQftype(reply_.get(), column) == type_of_booleans) return view(column) == "t" ? 1 : 0;
    return parse<std::int64_t>(view(column));
  }
  FeatureVector vector(int column) const override {
    std::size_t bytes = 0;
    const auto* const escaped = reinterpret_cast<const unsigned char*>(libpq()->PQgetvalue(reply_.get(), row_, column));
    unsigned char* const raw = libpq()->PQunescapeBytea(escaped, &bytes);
    FeatureVector result(bytes / sizeof(float));
    if (!result.empty()) std::memcpy(result.data(), raw, result.size() * sizeof(float));
    libpq()->PQfreemem(raw);
    return result;
  }

 private:
  std::string_view view(int column) const {
    return {libpq()->PQgetvalue(reply_.get(), row_, column),
            static_cast<std::size_t>(libpq()->PQgetlength(reply_.get(), row_, column))};
  }
  template <class T>
  static T parse(std::string_view text) {
    T value{};
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  PostgresConnection& db_;
  const std::string sql_;
  const Rows rows_;
  std::optional<PostgresConnection::Cursor> cursor_;
  std::vector<PostgresConnection::Parameter> parameters_;
  bool has_zero_ = false;
  PostgresConnection::Reply reply_;
  int row_ = -1;
};

}  // namespace

std::unique_ptr<DriverStatement> PostgresConnection::prepare(const std::string& sql, Rows rows) {
  return std::make_unique<PostgresStatement>(*this, sql, rows);
}

Result<std::optional<PostgresConnection::Cursor>> PostgresConnection::open_cursor(
    const std::string& sql, const std::vector<Parameter>& parameters) {
  if (!in_transaction_) return std::nullopt;
  Cursor cursor{.name = "rows" + std::to_string(cursors_), .transaction = transactions_};
  TRY([[maybe_unused]] const Reply opened, ask("DECLARE " + cursor.name + " NO SCROLL CURSOR FOR " + sql, parameters));
  ++cursors_;
  return cursor;
}

Result<PostgresConnection::Reply> PostgresConnection::next_piece(const Cursor& cursor) {
  TRY_VOID(ready());
  return plain("FETCH " + std::to_string(rows_of_a_piece) + " FROM " + cursor.name);
}

// With its transaction it is closed by itself.
void PostgresConnection::close(const Cursor& cursor) {
  --cursors_;
  if (in_transaction_ && cursor.transaction == transactions_ && ready())
    static_cast<void>(plain("CLOSE " + cursor.name));
}

}  // namespace sous::tuning_db
