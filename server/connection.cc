#include "server/connection.h"

#include <poll.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http.hpp>
#include <exception>
#include <utility>

#include "server/content.h"
#include "server/gzip.h"

namespace sous::server {
namespace {

namespace http = beast::http;
using asio::ip::tcp;
using Clock = Workers::Clock;

constexpr std::size_t piece = std::size_t{64} << 10;  // read at once

auto into(beast::error_code& error) { return asio::redirect_error(asio::use_awaitable, error); }

Response busy(std::string why) {
  Response response = refusal(503, {"server.busy", std::move(why)});
  response.retry_after = 1;
  return response;
}

void compress(Response& response) {
  auto smaller = gzipped(response.body);
  if (!smaller) return;
  response.body = std::move(*smaller);
  response.content_encoding = "gzip";
}

Response answered(const Service& service, const Request& request) {
  try {
    Response response = service.handle(request);
    if (request.gzip && response.body.size() >= worth_compressing) compress(response);
    return response;
  } catch (const std::exception&) {
    return refusal(500, {"server.internal", "the request could not be answered"});
  }
}

std::string address_of(const tcp::socket& socket) {
  beast::error_code error;
  const tcp::endpoint from = socket.remote_endpoint(error);
  return error ? "" : party_of_address(from.address().to_string());
}

// What a worker and a connection share of a request: the loop's thread alone touches it.
struct Pending {
  explicit Pending(asio::any_io_executor executor) : done(std::move(executor)) {}
  asio::steady_timer done;  // ends with the request's time, and is cancelled before that by an answer
  std::optional<Response> response;
};

}  // namespace

struct Connection::Incoming {
  http::request_parser<http::string_body> parser;
};

bool Loop::close_oldest(unsigned phases, const Connection* but) {
  Connection* oldest = nullptr;
  for (Connection* one : connections)
    if (one != but && (one->phase() & phases) != 0 && (!oldest || one->since() < oldest->since())) oldest = one;
  if (oldest) oldest->close();
  return oldest != nullptr;
}

Connection::Connection(tcp::socket socket, Loop& loop)
    : loop_(loop),
      stream_(std::move(socket)),
      buffer_(piece),
      address_(address_of(stream_.socket())),
      since_(Clock::now()),
      begun_(since_) {
  place_ = loop_.connections.insert(loop_.connections.end(), this);
}

Connection::~Connection() {
  hold(0);
  loop_.connections.erase(place_);
  if (loop_.connections.empty() && loop_.on_last) std::exchange(loop_.on_last, {})();
}

void Connection::close() {
  hold(0);
  phase_ = work;  // nothing that is waited for, so that it is not closed a second time
  beast::error_code ignored;
  stream_.socket().close(ignored);
}

void Connection::enter(Phase phase) {
  phase_ = phase;
  since_ = Clock::now();
}

bool Connection::hold(std::size_t bytes) {
  loop_.held = loop_.held - std::exchange(held_, bytes) + bytes;
  while (loop_.held > loop_.limits.held_bytes && bytes > 0)
    if (!loop_.close_oldest(body | answer, this)) return false;
  return true;
}

bool Connection::hung_up() {
  pollfd look{stream_.socket().native_handle(), POLLRDHUP, 0};
  return ::poll(&look, 1, 0) != 0;
}

asio::awaitable<void> Connection::run() {
  bool more = true;
  if (loop_.tls) more = co_await shake_hands();
  // Not as the loop's condition: g++ 12 takes what is behind such a loop for unreachable.
  while (more) more = co_await serve_one();
  if (stream_.in_tls()) co_await say_goodbye();
  close();
}

// The client begins, and nothing is kept for its handshake before. False: there is none, which is not said to those
// who tried.
asio::awaitable<bool> Connection::shake_hands() {
  constexpr unsigned char handshake_record = 22;
  const std::shared_ptr<TlsContext> tls = loop_.tls;
  const bool begun = co_await first_byte();
  if (!begun) co_return false;
  enter(head);
  if (*static_cast<const unsigned char*>(buffer_.data().data()) != handshake_record) {
    const Error error{"request.tls", "TLS is spoken here: ask as https://", ""};
    const bool go_on = co_await refuse(400, error);
    co_return go_on;
  }
  stream_.tcp().expires_at(begun_ + loop_.limits.head);
  beast::error_code error;
  const std::size_t used = co_await stream_.async_handshake(tls->context, buffer_.cdata(), into(error));
  // Nobody who waits for an answer sends more than that.
  if (!error && used == buffer_.size()) {
    buffer_.clear();
    co_return true;
  }
  loop_.metrics.count_shed("handshake");
  co_return false;
}

asio::awaitable<void> Connection::say_goodbye() {
  if (!stream_.socket().is_open()) co_return;
  enter(linger);
  stream_.tcp().expires_after(loop_.limits.linger);
  beast::error_code ignored;
  co_await stream_.async_shutdown(into(ignored));
}

// Of a request. What a client sent behind the last one, without waiting for its answer, is in the buffer.
asio::awaitable<bool> Connection::first_byte() {
  if (buffer_.size() == 0) {
    if (loop_.stopping) co_return false;
    enter(idle);
    buffer_.shrink_to_fit();  // of thousands of connections that say nothing
    stream_.tcp().expires_after(loop_.limits.idle);
    beast::error_code error;
    const std::size_t bytes = co_await stream_.async_read_some(buffer_.prepare(4096), into(error));
    if (error) co_return false;
    buffer_.commit(bytes);
  }
  begun_ = Clock::now();
  co_return true;
}

asio::awaitable<bool> Connection::serve_one() {
  const bool more = co_await first_byte();
  if (!more) co_return false;
  enter(head);
  Incoming in;
  in.parser.header_limit(static_cast<std::uint32_t>(loop_.limits.head_bytes));
  in.parser.body_limit(loop_.limits.body_bytes);
  stream_.tcp().expires_at(begun_ + loop_.limits.head);
  beast::error_code error;
  co_await http::async_read_header(stream_, buffer_, in.parser, into(error));
  if (error) {
    const bool go_on = co_await refuse_unreadable(error, in);
    co_return go_on;
  }
  auto request = request_of(in);
  if (!request) {
    const bool go_on = co_await refuse(400, request.error());
    co_return go_on;
  }
  const bool with_body = request->method != "HEAD";
  auto refused = loop_.service.refuse(*request);
  if (refused) {
    const bool go_on = co_await write_refusal(*refused, in, with_body);
    co_return go_on;
  }
  const bool whole = co_await read_body(in);
  if (!whole) co_return false;

  auto message = in.parser.release();
  // The body of a GET means nothing.
  if (request->method != "GET" && request->method != "HEAD") {
    request->body = std::move(message.body());
    request->encoding = std::string(message[http::field::content_encoding]);
  }
  const bool keep = message.keep_alive();
  const Lane lane = loop_.service.lane(*request);
  auto response = co_await have_answered(*request, lane);
  if (!response) co_return false;
  const bool written = co_await write(*response, with_body, message.version(), keep);
  co_return written;
}

// All but the body.
Result<Request> Connection::request_of(const Incoming& in) const {
  const auto& head = in.parser.get();
  const std::string_view target{head.target().data(), head.target().size()};
  Request request;
  request.method = std::string(head.method_string());
  TRY(request.path, path_of(target));
  request.address = address_;
  request.gzip = accepts_gzip(head[http::field::accept_encoding]);
  request.query = query_of(target);
  request.authorization = std::string(head[http::field::authorization]);
  request.if_none_match = std::string(head[http::field::if_none_match]);
  return request;
}

// Where a body follows, which nobody reads, the connection ends with it.
asio::awaitable<bool> Connection::write_refusal(Response& response, const Incoming& in, bool with_body) {
  const bool whole = in.parser.is_done(), keep = whole && in.parser.get().keep_alive();
  const bool written = co_await write(response, with_body, in.parser.get().version(), keep);
  if (!whole) co_await drain();
  co_return written;
}

asio::awaitable<bool> Connection::read_body(Incoming& in) {
  beast::error_code error;
  if (in.parser.is_done()) co_return true;
  enter(body);
  stream_.tcp().expires_at(std::min(Clock::now() + loop_.limits.body, begun_ + loop_.limits.request));
  if (beast::iequals(in.parser.get()[http::field::expect], "100-continue") && buffer_.size() == 0) {
    http::response<http::empty_body> go_on{http::status::continue_, in.parser.get().version()};
    co_await http::async_write(stream_, go_on, into(error));
  }
  while (!error && !in.parser.is_done()) {
    // A length that is announced is reserved.
    const std::size_t announced = in.parser.content_length().value_or(0);
    if (!hold(std::max<std::size_t>(announced, in.parser.get().body().size()))) {
      loop_.metrics.count_shed("memory");
      Response response = busy("too much is held for other requests");
      co_await write(response, true, in.parser.get().version(), false);
      co_await drain();
      co_return false;
    }
    co_await http::async_read_some(stream_, buffer_, in.parser, into(error));
  }
  if (!error) co_return true;
  co_await refuse_unreadable(error, in);
  co_return false;
}

// Clients that hang up or are too slow get no answer; those that say what cannot be read do.
asio::awaitable<bool> Connection::refuse_unreadable(beast::error_code error, const Incoming& in) {
  if (error == http::error::end_of_stream || error == http::error::partial_message ||
      error.category() != http::make_error_code(http::error::bad_method).category())
    co_return false;
  int status = 400;
  Error refusal{"request.http", "this is no HTTP request that the server understands", ""};
  if (error == http::error::body_limit) {
    status = 413;
    refusal = {"request.budget", "the body has more than " + std::to_string(loop_.limits.body_bytes) + " bytes", ""};
  } else if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    const bool line = in.parser.get().target().empty();
    status = line ? 414 : 431;
    refusal = {"request.budget", line ? "the request line is too long" : "the head of the request is too long", ""};
  }
  const bool go_on = co_await refuse(status, refusal);
  co_return go_on;
}

asio::awaitable<bool> Connection::refuse(int status, const Error& error) {
  loop_.metrics.count_request("refused", status, 0);
  Response response = refusal(status, error);
  co_await write(response, true, 11, false);
  co_await drain();
  co_return false;
}

// Nullopt: the client has gone, or its time is over.
asio::awaitable<std::optional<Response>> Connection::have_answered(Request& request, Lane lane) {
  enter(work);
  auto pending = std::make_shared<Pending>(stream_.get_executor());
  pending->done.expires_at(begun_ + loop_.limits.request);
  auto job = std::make_shared<Workers::Job>();
  job->run = [pending, &service = loop_.service, &metrics = loop_.metrics, request = std::move(request)](bool late) {
    if (late) metrics.count_shed("late");
    Response response = late ? busy("it waited too long") : answered(service, request);
    asio::post(pending->done.get_executor(), [pending, response = std::move(response)]() mutable {
      pending->response = std::move(response);
      pending->done.cancel();
    });
  };
  Workers& workers = *loop_.workers[static_cast<std::size_t>(lane)];
  if (!workers.offer(job)) {
    loop_.metrics.count_shed("queue");
    co_return busy("too many requests wait");
  }
  stream_.socket().async_wait(tcp::socket::wait_read,
                              [self = shared_from_this(), &workers, job, pending](beast::error_code error) {
                                // It may have sent its next request meanwhile; then it is there.
                                if (error || !self->hung_up() || !workers.withdraw(job)) return;
                                self->loop_.metrics.count_shed("gone");
                                pending->done.cancel();
                              });
  beast::error_code ignored;
  co_await pending->done.async_wait(into(ignored));
  workers.withdraw(job);
  if (stream_.socket().is_open()) stream_.socket().cancel(ignored);
  co_return std::move(pending->response);
}

// Whether the connection goes on.
asio::awaitable<bool> Connection::write(Response& response, bool with_body, unsigned version, bool keep) {
  keep = keep && !loop_.stopping;
  enter(answer);
  if (!hold(response.body.size())) {
    loop_.metrics.count_shed("memory");
    response = busy("too much is held for other requests");
  }
  http::response<http::string_body> message;
  message.version(version);
  message.result(static_cast<unsigned>(response.status));
  message.set(http::field::content_type, response.content_type);
  message.set(http::field::vary, "Accept-Encoding");
  if (!response.content_encoding.empty()) message.set(http::field::content_encoding, response.content_encoding);
  if (!response.allow.empty()) message.set(http::field::allow, response.allow);
  message.set("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : response.headers) message.set(name, value);
  if (response.wants_token) message.set(http::field::www_authenticate, "Bearer");
  if (response.retry_after > 0) message.set(http::field::retry_after, std::to_string(response.retry_after));
  message.keep_alive(keep);
  if (response.status != 304) message.content_length(response.body.size());
  if (with_body) message.body() = std::move(response.body);
  stream_.tcp().expires_at(begun_ + loop_.limits.request);
  beast::error_code error;
  // Of an answer that nobody reads in time the system shall keep nothing either.
  stream_.socket().set_option(asio::socket_base::linger(true, 0), error);
  http::response_serializer<http::string_body> serializer(message);
  // Of HEAD the head alone: its length is that of the body that GET gets.
  if (with_body)
    co_await http::async_write(stream_, serializer, into(error));
  else
    co_await http::async_write_header(stream_, serializer, into(error));
  hold(0);
  beast::error_code ignored;
  if (!error) stream_.socket().set_option(asio::socket_base::linger(false, 0), ignored);
  co_return keep && !error;
}

// In TLS what comes is not read, but taken, as otherwise.
asio::awaitable<void> Connection::drain() {
  enter(linger);
  beast::error_code error;
  stream_.socket().shutdown(tcp::socket::shutdown_send, error);
  stream_.tcp().expires_after(loop_.limits.linger);
  // Of a body that is a little too long all of it: closed with something unread, the client may not see the answer.
  for (std::size_t bytes = 0; !error && bytes < 2 * loop_.limits.body_bytes;) {
    buffer_.clear();
    bytes += co_await stream_.tcp().async_read_some(buffer_.prepare(piece), into(error));
  }
}

}  // namespace sous::server
