// Certificates that a test makes for itself, and a client that looks at them.
#pragma once

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "server/http_server.h"

namespace sous::server {

template <auto free>
struct Freed {
  template <class T>
  void operator()(T* value) const {
    free(value);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;

struct Pair {
  Key key{EVP_EC_gen("P-256")};
  Certificate certificate{X509_new()};
};

// Its own authority, for 127.0.0.1, for an hour.
inline Pair self_signed(long serial) {
  Pair pair;
  X509* const made = pair.certificate.get();
  X509_set_version(made, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made), serial);
  X509_gmtime_adj(X509_getm_notBefore(made), -60);
  X509_gmtime_adj(X509_getm_notAfter(made), 3600);
  X509_set_pubkey(made, pair.key.get());
  X509_NAME* const name = X509_get_subject_name(made);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  X509_set_issuer_name(made, name);
  const std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>> names(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1"));
  X509_add_ext(made, names.get(), -1);
  EXPECT_GT(X509_sign(made, pair.key.get(), EVP_sha256()), 0);
  return pair;
}

// As PEM; `password`: of the key.
inline CertificateFiles write(const Pair& pair, const std::filesystem::path& folder, const char* password = nullptr) {
  CertificateFiles files{folder / "chain.pem", folder / "key.pem"};
  using File = std::unique_ptr<FILE, Freed<std::fclose>>;
  PEM_write_X509(File(std::fopen(files.chain.c_str(), "w")).get(), pair.certificate.get());
  PEM_write_PrivateKey(File(std::fopen(files.key.c_str(), "w")).get(), pair.key.get(),
                       password ? EVP_aes_128_cbc() : nullptr, nullptr, 0, nullptr,
                       const_cast<char*>(password));  // not written to
  return files;
}

// Speaks TLS over a connection, waiting for what it waits for.
class TlsClient {
 public:
  TlsClient(int fd, int newest = TLS1_3_VERSION) : context_(SSL_CTX_new(TLS_client_method())) {
    std::signal(SIGPIPE, SIG_IGN);  // a server that hangs up is an error of the write
    SSL_CTX_set_max_proto_version(context_.get(), newest);
    SSL_CTX_set_security_level(context_.get(), 0);  // what the server refuses shall be tried
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), fd);
    connected = SSL_connect(ssl_.get()) == 1;
  }
  long serial() const {
    const Certificate shown(SSL_get1_peer_certificate(ssl_.get()));
    return ASN1_INTEGER_get(X509_get_serialNumber(shown.get()));
  }
  void say(const std::string& text) { SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())); }
  // Up to the end of what one answer's length says.
  std::string answer() {
    std::string read;
    while (true) {
      const std::size_t head = read.find("\r\n\r\n"), field = read.find("Content-Length: ");
      if (head != std::string::npos && read.size() >= head + 4 + std::stoul(read.substr(field + 16))) return read;
      char bytes[4096];
      const int n = SSL_read(ssl_.get(), bytes, sizeof bytes);
      if (n <= 0) return read;
      read.append(bytes, static_cast<std::size_t>(n));
    }
  }
  // Whether the server says goodbye, and not only hangs up.
  bool is_ended() {
    char byte = 0;
    const int n = SSL_read(ssl_.get(), &byte, 1);
    return n <= 0 && SSL_get_error(ssl_.get(), n) == SSL_ERROR_ZERO_RETURN;
  }
  bool connected = false;

 private:
  std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>> context_;
  std::unique_ptr<SSL, Freed<SSL_free>> ssl_;
};

}  // namespace sous::server
