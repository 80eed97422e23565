#include "rendezvous/probes/probe_server.h"

#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/blocked_signals.h"
#include "base/monotonic_clock.h"
#include "base/net/connection_crowd.h"
#include "base/net/resolve.h"
#include "base/net/socket_address.h"
#include "rendezvous/metrics/exposition.h"
#include "rendezvous/server/answer_cache.h"

namespace muster::rendezvous {

namespace {

ProbeAnswer Text(int status, std::string text) {
  return {.status = status,
          .body = std::make_shared<const std::string>(std::move(text))};
}

}  // namespace

std::function<Page()> CachedPage(std::function<std::string()> make,
                                 std::function<Instant()> now) {
  return [make = std::move(make), now = std::move(now),
          cache = std::make_shared<AnswerCache<Page>>()] {
    const Instant asked = now();
    if (auto page = cache->Find(asked, "")) return *std::move(page);
    const Page page = std::make_shared<const std::string>(make());
    const Instant made = now();
    cache->Keep(made, "", page, made - asked);
    return page;
  };
}

ProbeAnswer AnswerProbe(const Probes& probes, const std::string& method,
                        const std::string& target) {
  const std::string path = target.substr(0, target.find('?'));
  const std::function<absl::Status()>* probe = nullptr;
  if (path == "/livez") probe = &probes.live;
  if (path == "/startupz") probe = &probes.started;
  if (path == "/readyz") probe = &probes.ready;
  const bool is_metrics = path == "/metrics" && probes.metrics != nullptr;
  if (probe == nullptr && !is_metrics) {
    return Text(404, probes.metrics != nullptr
                         ? "there are /livez, /startupz, /readyz and /metrics\n"
                         : "there are /livez, /startupz and /readyz\n");
  }
  if (method != "GET" && method != "HEAD") {
    return Text(405, "GET and HEAD only\n");
  }
  if (is_metrics) {
    return {.body = probes.metrics(), .content_type = kExpositionType};
  }
  const absl::Status status = (*probe)();
  if (status.ok()) return Text(200, "ok\n");
  return Text(503, absl::StrCat(status.message(), "\n"));
}

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kPeersTime = std::chrono::seconds(5);
constexpr auto kWithoutDescriptors = std::chrono::milliseconds(500);
constexpr auto kTick = std::chrono::seconds(1);
// Limits of responses without an end (ProbeAnswer::more). kMorePause: the
// interval between two calls of `more`. kPieceTime: the time that a client may
// take to read one piece of the response.
constexpr auto kMorePause = std::chrono::milliseconds(100);
constexpr auto kPieceTime = std::chrono::seconds(10);
constexpr size_t kMaxPeers = 64;
constexpr size_t kMaxHeaderBytes = 8 << 10;
constexpr Duration kResolveTimeout = std::chrono::seconds(10);

using Pieces = std::function<std::optional<Page>()>;

// A connection of one HTTP client, which is closed after one request.
class Peer : public std::enable_shared_from_this<Peer> {
 public:
  // `on_end` is called once, when the connection has ended.
  Peer(tcp::socket socket, const Probes* probes, std::function<void()> on_end)
      : stream_(std::move(socket)),
        probes_(probes),
        on_end_(std::move(on_end)),
        pause_(stream_.get_executor()) {
    parser_.header_limit(kMaxHeaderBytes);
    parser_.body_limit(0);
  }
  ~Peer() { on_end_(); }

  void Read() {
    stream_.expires_after(kPeersTime);
    http::async_read(stream_, buffer_, parser_,
                     [self = shared_from_this()](error_code error, size_t) {
                       if (!error) self->Answer();
                     });
  }

  // Closes the connection, so that its pending operation fails.
  void Break() { stream_.close(); }

 private:
  void Answer() {
    const auto& request = parser_.get();
    ProbeAnswer answer = Find(request);
    response_.result(static_cast<unsigned>(answer.status));
    response_.set(http::field::content_type, answer.content_type);
    response_.set(http::field::cache_control, "no-store");
    for (const auto& [name, value] : answer.headers) response_.set(name, value);
    response_.keep_alive(false);
    if (answer.more != nullptr && request.method() != http::verb::head) {
      return Stream(std::move(answer));
    }
    page_ = answer.body;
    response_.body() = {page_->data(), page_->size()};
    response_.prepare_payload();
    if (request.method() == http::verb::head) response_.body() = {};
    http::async_write(
        stream_, response_, [self = shared_from_this()](error_code, size_t) {
          error_code ignored;
          self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
        });
  }

  ProbeAnswer Find(const http::request<http::string_body>& request) const {
    PageRequest asked{
        .method = std::string(request.method_string()),
        .target = std::string(request.target()),
        .host = std::string(request[http::field::host]),
        .authorization = std::string(request[http::field::authorization])};
    if (probes_->pages != nullptr) {
      std::optional<ProbeAnswer> page = probes_->pages(asked);
      if (page.has_value()) return *std::move(page);
    }
    return AnswerProbe(*probes_, asked.method, asked.target);
  }

  // Sends the headers without a Content-Length, then pieces until the client
  // closes the connection.
  void Stream(ProbeAnswer answer) {
    more_ = std::move(answer.more);
    page_ = answer.body;
    headers_.emplace(response_);
    WatchClient();
    http::async_write_header(
        stream_, *headers_,
        [self = shared_from_this()](error_code error, size_t) {
          if (error) return self->Break();
          self->WritePiece();
        });
  }

  // Waits until the client closes the connection, and then closes this end.
  // Without the wait, a stream that has nothing to send would not notice that
  // the client has closed the connection.
  void WatchClient() {
    stream_.socket().async_wait(
        tcp::socket::wait_read, [self = shared_from_this()](error_code error) {
          if (error) return;
          char next = 0;
          const ssize_t read = recv(self->stream_.socket().native_handle(),
                                    &next, 1, MSG_PEEK | MSG_DONTWAIT);
          if (read > 0) return;  // ignore a further request of the client
          if (read < 0 && errno == EAGAIN) return self->WatchClient();
          self->Break();
        });
  }

  void WritePiece() {
    stream_.expires_after(kPieceTime);
    asio::async_write(stream_, asio::buffer(*page_),
                      [self = shared_from_this()](error_code error, size_t) {
                        if (error) return self->Break();
                        self->WaitForPiece();
                      });
  }

  void WaitForPiece() {
    std::optional<Page> next = more_();
    if (!next.has_value()) return Break();
    if (*next != nullptr) {
      page_ = *std::move(next);
      return WritePiece();
    }
    pause_.expires_after(kMorePause);
    pause_.async_wait([self = shared_from_this()](error_code stopped) {
      if (!stopped && self->stream_.socket().is_open()) self->WaitForPiece();
    });
  }

  // All members are used by the server's thread only.
  beast::tcp_stream stream_;
  const Probes* const probes_;
  const std::function<void()> on_end_;
  beast::flat_buffer buffer_;
  http::request_parser<http::string_body> parser_;
  // The body of response_, or the newest piece of a stream. Shared with other
  // answers, not copied.
  Page page_;
  http::response<http::span_body<const char>> response_;
  // Writes the headers of a response whose body has no fixed length: pieces
  // follow until the client closes the connection (ProbeAnswer::more).
  std::optional<http::response_serializer<http::span_body<const char>>>
      headers_;
  Pieces more_;
  asio::steady_timer pause_;
};

// The open connections. When there are more than kMaxPeers, Serve determines
// the client network with the most connections, and closes the oldest
// connection of this network. Used by the server's thread only.
class Peers {
 public:
  void Serve(tcp::socket socket, const Probes* probes) {
    error_code error;
    const tcp::endpoint from = socket.remote_endpoint(error);
    if (error) return;  // the peer has closed the connection
    const auto address =
        NumericAddress(from.address().to_string(), from.port());
    const ConnectionCrowd::Id id = ++last_;
    crowd_.Add(id, address.has_value() ? NetworkOf(*address) : "");
    const auto peer = std::make_shared<Peer>(std::move(socket), probes,
                                             [this, id] { Ended(id); });
    open_.emplace(id, peer);
    peer->Read();
    if (crowd_.size() <= kMaxPeers) return;
    const ConnectionCrowd::Id oldest = crowd_.Largest().oldest;
    const std::shared_ptr<Peer> displaced = open_[oldest].lock();
    Ended(oldest);
    if (displaced != nullptr) displaced->Break();
  }

 private:
  void Ended(ConnectionCrowd::Id id) {
    crowd_.Remove(id);
    open_.erase(id);
  }

  ConnectionCrowd crowd_;
  std::map<ConnectionCrowd::Id, std::weak_ptr<Peer>> open_;
  ConnectionCrowd::Id last_ = 0;
};

std::vector<tcp::endpoint> Candidates(
    const Endpoint& listen, const std::vector<SocketAddress>& addresses) {
  std::vector<tcp::endpoint> candidates;
  const auto port = static_cast<unsigned short>(listen.port);
  // One IPv6 socket serves both address families, if the kernel has IPv6.
  if (listen.host == "0.0.0.0") candidates.emplace_back(tcp::v6(), port);
  for (const SocketAddress& address : addresses) {
    error_code error;
    const auto ip = asio::ip::make_address(address.Ip(), error);
    if (!error) candidates.emplace_back(ip, port);
  }
  return candidates;
}

}  // namespace

class ProbeServer::Impl {
 public:
  explicit Impl(Probes probes) : probes_(std::move(probes)) {}

  ~Impl() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

  error_code Listen(const tcp::endpoint& where) {
    error_code error;
    acceptor_.close(error);
    acceptor_.open(where.protocol(), error);
    if (error) return error;
    if (where.protocol() == tcp::v6() && where.address().is_unspecified()) {
      acceptor_.set_option(asio::ip::v6_only(false), error);
      if (error) return error;
    }
    acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(where, error);
    if (!error)
      acceptor_.listen(asio::socket_base::max_listen_connections, error);
    return error;
  }

  int port() const { return acceptor_.local_endpoint().port(); }

  void Serve() {
    Accept();
    if (probes_.tick != nullptr) Tick();
    // Start the server's thread with all signals blocked, so that other threads
    // handle them.
    const BlockedSignals blocked;
    thread_ = std::thread([this] { context_.run(); });
  }

 private:
  void Tick() {
    tick_.expires_after(kTick);
    tick_.async_wait([this](error_code stopped) {
      if (stopped) return;
      probes_.tick();
      Tick();
    });
  }

  void Accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (!error) {
        peers_.Serve(std::move(socket), &probes_);
        return Accept();
      }
      // The listener could not accept, most likely because no descriptor is
      // free. An immediate retry would fail, too.
      later_.expires_after(kWithoutDescriptors);
      later_.async_wait([this](error_code stopped) {
        if (!stopped) Accept();
      });
    });
  }

  const Probes probes_;
  // Declared before context_, so that it is destroyed after context_: the
  // destructor of context_ ends the connections, each of which calls peers_.
  Peers peers_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer later_{context_};
  asio::steady_timer tick_{context_};
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<ProbeServer>> ProbeServer::Start(
    const Endpoint& listen, Probes probes) {
  const auto addresses =
      Resolve(listen.host, listen.port, {.timeout = kResolveTimeout});
  if (!addresses.ok()) {
    return absl::UnavailableError(absl::StrCat(
        "HTTP: ", absl::string_view(addresses.status().message())));
  }
  auto impl = std::make_unique<Impl>(std::move(probes));
  error_code why = asio::error::host_not_found;
  for (const tcp::endpoint& where : Candidates(listen, *addresses)) {
    why = impl->Listen(where);
    if (!why) break;
  }
  if (why) {
    return absl::UnavailableError(
        absl::StrCat("cannot serve HTTP at ", listen.ToString(), ": ",
                     why.message(), "; choose another address or port"));
  }
  Endpoint address{listen.host, impl->port()};
  impl->Serve();
  return std::unique_ptr<ProbeServer>(
      new ProbeServer(std::move(impl), std::move(address)));
}

ProbeServer::ProbeServer(std::unique_ptr<Impl> impl, Endpoint address)
    : impl_(std::move(impl)), address_(std::move(address)) {}

ProbeServer::~ProbeServer() = default;

absl::StatusOr<std::vector<std::unique_ptr<ProbeServer>>> ServePages(
    const PageAddresses& addresses, const Probes& pages,
    std::function<std::string()> metrics,
    const std::function<void(const std::string&)>& say) {
  std::vector<std::unique_ptr<ProbeServer>> servers;
  // Starts a server at the address `listen`, if it is set. Called once for each
  // address: pages (probes, metrics, dashboard) with the same address share one
  // server.
  const auto serve = [&](const char* flag,
                         const std::optional<Endpoint>& listen,
                         const char* said, const char* path) -> absl::Status {
    if (!listen) return absl::OkStatus();
    Probes served = pages;
    if (listen == addresses.metrics) {
      served.metrics = CachedPage(metrics, MonotonicNow);
    }
    if (listen != addresses.dashboard) served.pages = nullptr;
    if (listen != addresses.dashboard) served.tick = nullptr;
    auto server = ProbeServer::Start(*listen, std::move(served));
    if (!server.ok()) {
      return absl::UnavailableError(
          absl::StrCat(flag, ": ", server.status().message()));
    }
    if (say) say(absl::StrCat(said, (*server)->address().ToString(), path));
    servers.push_back(*std::move(server));
    return absl::OkStatus();
  };
  absl::Status served;
  if (addresses.probes != addresses.metrics &&
      addresses.probes != addresses.dashboard) {
    served =
        serve("--probe-listen", addresses.probes, "answering probes on ", "");
  }
  if (served.ok()) {
    served = serve("--metrics-listen", addresses.metrics, "metrics on http://",
                   "/metrics");
  }
  if (served.ok() && addresses.dashboard != addresses.metrics) {
    served = serve("--dashboard-listen", addresses.dashboard,
                   "dashboard on http://", "/");
  }
  if (!served.ok()) return served;
  return servers;
}

}  // namespace muster::rendezvous
