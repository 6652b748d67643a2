// sous-serve token …: who may do what on a server over this database.
#pragma once

#include <span>
#include <string>

#include "sdfg/result.h"

namespace sous::server {

inline constexpr const char* token_usage =
    "usage: sous token add NAME [--scopes read,upload,work,admin] [--db FILE]\n"
    "       sous token list|log [--db FILE]\n"
    "       sous token revoke NAME|ID [--db FILE]\n"
    "  add       makes a token and prints it; only its hash is kept. Clients show it as SOUS_TOKEN\n"
    "  list      all tokens: id, name, scopes, since when, and whether they were revoked\n"
    "  revoke    from now on a token, or all of a name, is worth nothing; what was sent with it stays\n"
    "  log       what was written through a server, and which tokens were added and revoked; the last --last of it\n"
    "  --scopes  what it lets its bearer do (default: read,upload). read: ask a server that answers not everyone;\n"
    "            upload: send recipes and wanted nests; work: take jobs, see what is wanted; admin: all of it\n";

// `words`: behind "token". What it says goes to standard output. Errors: cli.*, token.*, those of the database.
Result<void> token_command(std::span<const std::string> words);

}  // namespace sous::server
