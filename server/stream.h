// The bytes of a connection, as they are or in TLS: what Boost.Beast reads requests from and writes answers to. Its
// deadlines are those of the TCP stream below.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <optional>
#include <utility>

namespace sous::server {

class Stream {
 public:
  using executor_type = boost::beast::tcp_stream::executor_type;
  using Failed = boost::beast::error_code;

  explicit Stream(boost::asio::ip::tcp::socket socket) : tcp_(std::move(socket)) {}

  executor_type get_executor() { return tcp_.get_executor(); }
  boost::beast::tcp_stream& tcp() { return tcp_; }
  boost::asio::ip::tcp::socket& socket() { return tcp_.socket(); }
  bool in_tls() const { return tls_.has_value(); }

  // As the server. `begun`: what was read already; it has to stay until the end. Handler: (error, how much of it).
  template <class Buffers, class Token>
  auto async_handshake(boost::asio::ssl::context& context, const Buffers& begun, Token&& token) {
    tls_.emplace(tcp_, context);
    return tls_->async_handshake(boost::asio::ssl::stream_base::server, begun, std::forward<Token>(token));
  }
  // Says that nothing follows. Of what is in TLS only.
  template <class Token>
  auto async_shutdown(Token&& token) {
    return tls_->async_shutdown(std::forward<Token>(token));
  }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(Failed, std::size_t)>(
        [this](auto handler, const Buffers& into) {
          if (tls_)
            tls_->async_read_some(into, std::move(handler));
          else
            tcp_.async_read_some(into, std::move(handler));
        },
        token, buffers);
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(Failed, std::size_t)>(
        [this](auto handler, const Buffers& from) {
          if (tls_)
            tls_->async_write_some(from, std::move(handler));
          else
            tcp_.async_write_some(from, std::move(handler));
        },
        token, buffers);
  }

 private:
  boost::beast::tcp_stream tcp_;
  std::optional<boost::asio::ssl::stream<boost::beast::tcp_stream&>> tls_;
};

}  // namespace sous::server
