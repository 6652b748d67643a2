#include "client/tls.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <openssl/err.h>
#include <openssl/opensslv.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "tuning-db/files.h"

namespace sous::client {
namespace {

// What is used of OpenSSL. libssl brings libcrypto with it.
#define SOUS_OPENSSL(use)                                                                                        \
  use(TLS_client_method) use(SSL_CTX_new) use(SSL_CTX_free) use(SSL_CTX_ctrl) use(SSL_CTX_set_cipher_list)       \
      use(SSL_CTX_set_default_verify_paths) use(SSL_CTX_get_cert_store) use(SSL_new) use(SSL_free) use(SSL_ctrl) \
          use(SSL_set_verify) use(SSL_get0_param) use(SSL_set_bio) use(SSL_connect) use(SSL_read) use(SSL_write) \
              use(SSL_get_error) use(SSL_get_verify_result) use(BIO_new) use(BIO_s_mem) use(BIO_new_mem_buf)     \
                  use(BIO_free) use(BIO_read) use(BIO_write) use(BIO_ctrl) use(X509_VERIFY_PARAM_set1_host)      \
                      use(X509_VERIFY_PARAM_set1_ip_asc) use(X509_VERIFY_PARAM_set_hostflags)                    \
                          use(X509_verify_cert_error_string) use(X509_STORE_add_cert) use(X509_free)             \
                              use(PEM_read_bio_X509) use(ERR_clear_error) use(ERR_get_error)                     \
                                  use(ERR_reason_error_string)

struct OpenSsl {
#define SOUS_MEMBER(name) decltype(&::name) name;
  SOUS_OPENSSL(SOUS_MEMBER)
#undef SOUS_MEMBER
};

#define SOUS_TEXT_OF(x) #x
#define SOUS_TEXT(x) SOUS_TEXT_OF(x)

const OpenSsl* openssl() {
  static const OpenSsl* const found = []() -> const OpenSsl* {
    void* const library = ::dlopen("libssl.so." SOUS_TEXT(OPENSSL_SHLIB_VERSION), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    static OpenSsl all;
    bool whole = true;
#define SOUS_FIND(name)                                                     \
  all.name = reinterpret_cast<decltype(all.name)>(::dlsym(library, #name)); \
  whole = whole && all.name != nullptr;
    SOUS_OPENSSL(SOUS_FIND)
#undef SOUS_FIND
    return whole ? &all : nullptr;
  }();
  return found;
}

constexpr std::size_t longest_authorities = std::size_t{16} << 20;

class Tls final : public Wire {
 public:
  Tls(const OpenSsl& library, std::unique_ptr<Wire> plain, const Exchange& exchange)
      : ssl_(library), plain_(std::move(plain)), exchange_(exchange) {}
  ~Tls() override {
    if (session_) ssl_.SSL_free(session_);
    if (context_) ssl_.SSL_CTX_free(context_);
  }

  Result<void> shake_hands(const std::string& host) {
    TRY_VOID(prepare(host));
    TRY(const int done, step([&] { return ssl_.SSL_connect(session_); }));
    if (done <= 0) return exchange_.refuse("http.tls", "the server ended the handshake");
    return {};
  }

  Result<void> send(std::string_view bytes) override {
    while (!bytes.empty()) {
      const int some = static_cast<int>(std::min<std::size_t>(bytes.size(), 1 << 16));
      TRY(const int n, step([&] { return ssl_.SSL_write(session_, bytes.data(), some); }));
      if (n <= 0) return {};  // it said goodbye: there may be an answer
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return {};
  }

  Result<bool> receive(std::string& buffer) override {
    std::array<char, 1 << 14> piece;
    TRY(const int n, step([&] { return ssl_.SSL_read(session_, piece.data(), static_cast<int>(piece.size())); }));
    if (n > 0) buffer.append(piece.data(), static_cast<std::size_t>(n));
    return n > 0;
  }

  bool is_private() const override { return true; }

 private:
  Result<void> prepare(const std::string& host) {
    const auto out_of_memory = [&] { return exchange_.refuse("http.tls", "OpenSSL does not work here"); };
    context_ = ssl_.SSL_CTX_new(ssl_.TLS_client_method());
    if (!context_) return out_of_memory();
    ssl_.SSL_CTX_ctrl(context_, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
    if (ssl_.SSL_CTX_set_cipher_list(context_, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1) return out_of_memory();
    TRY_VOID(trust());
    session_ = ssl_.SSL_new(context_);
    in_ = ssl_.BIO_new(ssl_.BIO_s_mem());
    out_ = ssl_.BIO_new(ssl_.BIO_s_mem());
    if (!session_ || !in_ || !out_) return out_of_memory();
    // An empty `in_` means that more is to come, not that this is the end.
    ssl_.BIO_ctrl(in_, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nullptr);
    ssl_.SSL_set_bio(session_, in_, out_);
    ssl_.SSL_set_verify(session_, SSL_VERIFY_PEER, nullptr);
    X509_VERIFY_PARAM* const wanted = ssl_.SSL_get0_param(session_);
    ssl_.X509_VERIFY_PARAM_set_hostflags(wanted,
                                         X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    if (ssl_.X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1) return {};
    std::string name = host;
    const bool said =
        ssl_.X509_VERIFY_PARAM_set1_host(wanted, name.data(), name.size()) == 1 &&
        ssl_.SSL_ctrl(session_, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) == 1;
    if (!said) return exchange_.refuse("http.tls", "no certificate can have this name");
    return {};
  }

  // Whose certificates are believed.
  Result<void> trust() {
    const char* const file = std::getenv("SOUS_CA_FILE");
    if (file == nullptr || *file == 0) {
      if (ssl_.SSL_CTX_set_default_verify_paths(context_) == 1) return {};
      return exchange_.refuse("http.tls", "the system's authorities cannot be read");
    }
    const auto text = tuning_db::read_file(file, longest_authorities);
    if (!text) return exchange_.refuse("http.tls", "SOUS_CA_FILE: " + text.error().to_string());
    BIO* const from = ssl_.BIO_new_mem_buf(text->data(), static_cast<int>(text->size()));
    int count = 0;
    while (from != nullptr) {
      X509* const one = ssl_.PEM_read_bio_X509(from, nullptr, nullptr, nullptr);
      if (one == nullptr) break;
      count += ssl_.X509_STORE_add_cert(ssl_.SSL_CTX_get_cert_store(context_), one);
      ssl_.X509_free(one);
    }
    if (from != nullptr) ssl_.BIO_free(from);
    if (count == 0) return exchange_.refuse("http.tls", std::string("SOUS_CA_FILE: no certificates in ") + file);
    return {};
  }

  // What OpenSSL has to say goes out, and what it waits for comes in, until `call` is done. 0: the other side has said
  // that nothing follows.
  template <class Call>
  Result<int> step(const Call& call) {
    while (true) {
      ssl_.ERR_clear_error();
      const int n = call();
      const int why = n > 0 ? SSL_ERROR_NONE : ssl_.SSL_get_error(session_, n);
      // Before an error, too: the server hears of it.
      TRY_VOID(flush());
      if (n > 0) return n;
      if (why == SSL_ERROR_ZERO_RETURN) return 0;
      if (why != SSL_ERROR_WANT_READ) return refused();
      std::string bytes;
      TRY(const bool more, plain_->receive(bytes));
      if (!more) return exchange_.refuse("http.tls", "the connection was cut off");
      ssl_.BIO_write(in_, bytes.data(), static_cast<int>(bytes.size()));
    }
  }

  Result<void> flush() {
    std::array<char, 1 << 14> piece;
    for (int n; (n = ssl_.BIO_read(out_, piece.data(), static_cast<int>(piece.size()))) > 0;)
      TRY_VOID(plain_->send({piece.data(), static_cast<std::size_t>(n)}));
    return {};
  }

  std::unexpected<Error> refused() {
    const unsigned long error = ssl_.ERR_get_error();
    const long verified = ssl_.SSL_get_verify_result(session_);
    if (verified != X509_V_OK)
      return exchange_.refuse("http.tls", std::string("the server's certificate is not believed: ") +
                                              ssl_.X509_verify_cert_error_string(verified));
    if (ERR_GET_REASON(error) == SSL_R_WRONG_VERSION_NUMBER)
      return exchange_.refuse("http.tls", "what the server speaks is no TLS; it may be meant to be asked as http://");
    const char* const reason = ssl_.ERR_reason_error_string(error);
    return exchange_.refuse("http.tls", reason != nullptr ? reason : "the handshake failed");
  }

  const OpenSsl& ssl_;
  const std::unique_ptr<Wire> plain_;
  const Exchange& exchange_;
  SSL_CTX* context_ = nullptr;
  SSL* session_ = nullptr;
  BIO *in_ = nullptr, *out_ = nullptr;  // the session's
};

}  // namespace

Result<std::unique_ptr<Wire>> in_tls(std::unique_ptr<Wire> plain, const std::string& host, const Exchange& exchange) {
  const OpenSsl* const library = openssl();
  if (library == nullptr)
    return exchange.refuse("http.tls", "there is no libssl.so." SOUS_TEXT(OPENSSL_SHLIB_VERSION) " here");
  auto tls = std::make_unique<Tls>(*library, std::move(plain), exchange);
  TRY_VOID(tls->shake_hands(host));
  return tls;
}

}  // namespace sous::client
