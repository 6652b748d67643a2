#include "server/tls.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <ctime>
#include <utility>

#include "tuning-db/files.h"

namespace sous::server {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

constexpr std::size_t longest_file = std::size_t{1} << 20;

std::unexpected<Error> refuse(const error_code& error, const char* what, const std::filesystem::path& file) {
  return fail("server.tls", std::string(what) + ": " + error.message(), file.string());
}

Result<void> restrict(ssl::context& context) {
  SSL_CTX* const raw = context.native_handle();
  SSL_CTX_set_options(raw, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(raw, 0);
  // Of thousands of connections that say nothing.
  SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS);
  if (SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_cipher_list(raw, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1)
    return fail("server.tls", "OpenSSL cannot speak TLS 1.2 here");
  return {};
}

std::string end_of(SSL_CTX* context) {
  std::tm end{};
  std::array<char, 32> text{};
  const X509* const certificate = SSL_CTX_get0_certificate(context);
  if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1) return "?";
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &end)};
}

}  // namespace

Result<std::shared_ptr<TlsContext>> read_certificate(const CertificateFiles& files) {
  TRY(const std::string chain, tuning_db::read_file(files.chain, longest_file));
  TRY(const std::string key, tuning_db::read_file(files.key, longest_file));
  auto made = std::make_shared<TlsContext>(ssl::context(ssl::context::tls_server), "");
  TRY_VOID(restrict(made->context));
  error_code error;
  // A key behind a password is none that a server can start with: nobody is asked for one.
  made->context.set_password_callback([](std::size_t, ssl::context::password_purpose) { return std::string(); }, error);
  if (made->context.use_certificate_chain(boost::asio::buffer(chain), error))
    return refuse(error, "this is no certificate", files.chain);
  if (made->context.use_private_key(boost::asio::buffer(key), ssl::context::pem, error))
    return refuse(error, "this is no private key, or not that of the certificate", files.key);
  if (SSL_CTX_check_private_key(made->context.native_handle()) != 1)
    return fail("server.tls", "the private key is not that of the certificate", files.key.string());
  made->until = end_of(made->context.native_handle());
  return made;
}

}  // namespace sous::server
