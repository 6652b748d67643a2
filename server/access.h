// Who asks: tokens as a client shows them ("Authorization: Bearer sous_…", RFC 6750) against those of the database.
#pragma once

#include <string>
#include <string_view>

#include "sdfg/result.h"
#include "tuning-db/ledger.h"

namespace sous::server {

struct Caller {
  std::string name;  // of its token; empty: it showed none
  tuning_db::Scopes scopes;
};

// `authorization`: the header's value; empty: there was none. Errors: token.unknown (also one that is revoked, or is no
// token at all: whoever guesses is told nothing), those of the database.
Result<Caller> caller_of(tuning_db::Ledger& ledger, std::string_view authorization);

struct NewToken {
  tuning_db::Token token;  // to be kept
  std::string text;        // to be told, once
};
Result<NewToken> new_token(std::string name, tuning_db::Scopes scopes);

}  // namespace sous::server
