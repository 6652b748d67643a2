// What a server shows and speaks in TLS 1.2 and 1.3.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "sdfg/result.h"
#include "server/http_server.h"

namespace sous::server {

struct TlsContext {
  boost::asio::ssl::context context;
  std::string until;  // the certificate is valid: "2027-01-31T12:00:00Z"
};

// Read anew from the files. Each handshake is a whole one, so that nothing has to be kept, here or in tickets, by which
// what was recorded could be read later. Errors: server.tls (a file cannot be read or holds something else, or the key
// is another certificate's), file.read.
Result<std::shared_ptr<TlsContext>> read_certificate(const CertificateFiles& files);

}  // namespace sous::server
