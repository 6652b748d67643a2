// TLS 1.2 or 1.3 over a connection, as its client. The server has to show a certificate for its name from an authority
// that the system trusts, or, with SOUS_CA_FILE, from one in that file; there is no way around it.
//
// OpenSSL is loaded when the first https server is asked. Linked with the program, it would cost every compilation 2 ms
// (docs/decisions/036-tls.md).
#pragma once

#include <memory>
#include <string>

#include "client/wire.h"

namespace sous::client {

// `host`: a name or an address. Errors: http.tls (the server is not verified, or speaks no TLS; OpenSSL or SOUS_CA_FILE
// cannot be read), and those of the connection.
Result<std::unique_ptr<Wire>> in_tls(std::unique_ptr<Wire> plain, const std::string& host, const Exchange& exchange);

}  // namespace sous::client
