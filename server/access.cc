#include "server/access.h"

#include <cctype>
#include <utility>

#include "server/secret.h"

namespace sous::server {
namespace {

// sous_<id>_<secret>: the id finds the row, and the whole is hashed.
constexpr std::string_view prefix = "sous_";
constexpr std::size_t id_bytes = 8, secret_bytes = 32;
constexpr std::size_t length = prefix.size() + 2 * id_bytes + 1 + 2 * secret_bytes;

// The scheme's name has no case.
bool is_bearer(std::string_view scheme) {
  constexpr std::string_view bearer = "bearer";
  if (scheme.size() != bearer.size()) return false;
  for (std::size_t i = 0; i < bearer.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(scheme[i])) != bearer[i]) return false;
  return true;
}

}  // namespace

Result<Caller> caller_of(tuning_db::Ledger& ledger, std::string_view authorization) {
  if (authorization.empty()) return Caller{};
  const auto unknown = [] { return fail("token.unknown", "the token is not known here, or was revoked"); };
  const std::size_t space = authorization.find(' ');
  if (space == std::string_view::npos || !is_bearer(authorization.substr(0, space))) return unknown();
  const std::string_view text = authorization.substr(space + 1);
  if (text.size() != length || !text.starts_with(prefix)) return unknown();
  const std::string_view id = text.substr(prefix.size(), 2 * id_bytes);
  if (id.find_first_not_of("0123456789abcdef") != std::string_view::npos) return unknown();
  TRY(const auto token, ledger.token(std::string(id)));
  TRY(const std::string hash, hash_of(text));
  if (!token || !same(token->hash, hash) || !token->revoked.empty()) return unknown();
  return Caller{token->name, token->scopes};
}

Result<NewToken> new_token(std::string name, tuning_db::Scopes scopes) {
  TRY(std::string id, random_hex(id_bytes));
  TRY(const std::string secret, random_hex(secret_bytes));
  std::string text = std::string(prefix) + id + "_" + secret;
  TRY(std::string hash, hash_of(text));
  return NewToken{{.id = std::move(id), .name = std::move(name), .hash = std::move(hash), .scopes = scopes},
                  std::move(text)};
}

}  // namespace sous::server
