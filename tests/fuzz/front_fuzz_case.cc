// Simulates unknown clients of a coordinator or a probe server. The first byte
// of the input selects the part:
//
// * Connections that open, send pieces of bytes, make calls, join and end in
//   any order. JudgeFirstBytes and ConnectionPool decide about them. Aborts in
//   four cases: gRPC gets a connection that has not sent the beginning of a
//   session; the connection of a node is closed; a limit is exceeded; the pool
//   has not acted at a deadline.
// * HTTP requests, edited (edited_bytes.h) and cut in two, to a real
//   ProbeServer. Aborts if an answer is not one whole HTTP response.
// * Peers and endpoints as text. Aborts if an endpoint changes when it is
//   written and read again.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/net/socket_address.h"
#include "base/owned_fd.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/probes/probe_server.h"
#include "rendezvous/server/caller_check.h"
#include "rendezvous/server/connection_pool.h"
#include "rendezvous/server/listener.h"
#include "tests/fuzz/edited_bytes.h"
#include "tests/fuzz/fuzz_case.h"

namespace muster {
namespace {

using namespace rendezvous;  // NOLINT(google-build-using-namespace)

constexpr ConnectionLimits kLimits = {
    .waiting = 5, .on_trial = 8, .callers = 3, .nodes = 100};

// A simulated listener: its connections, and the pool that decides which of
// them gRPC gets and which are closed.
class Front {
 public:
  void Open(int network) {
    if (!pool_.MayAccept()) return;
    const ConnectionPool::Id id = ++last_;
    connections_[id] = {};
    pool_.Opened(now_, id, std::string(1, static_cast<char>('a' + network)));
    Apply();
  }

  void Receive(ConnectionPool::Id id, std::string_view bytes) {
    const auto found = connections_.find(id);
    if (found == connections_.end() || found->second.handed_over) return;
    std::string& received = found->second.received;
    received += bytes;
    const FirstBytes first = JudgeFirstBytes(received);
    MUSTER_CHECK((first == FirstBytes::kGood) ==
                 (received.starts_with("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") ||
                  received.starts_with("\x16\x03")));
    if (first == FirstBytes::kBad) return End(id);
    if (first != FirstBytes::kGood) return;
    found->second.has_spoken = true;
    pool_.Spoke(id);
    Apply();
  }

  // Simulates an event of a connection that was passed to gRPC. `what`: 0: the
  // client is authenticated, 1: a node joins, 2: a node leaves.
  void Call(ConnectionPool::Id id, int what) {
    const auto found = connections_.find(id);
    if (found == connections_.end() || !found->second.handed_over) return;
    if (what == 0) pool_.Proved(id);
    if (what == 1) {
      pool_.Joined(id);
      ++found->second.nodes;
    }
    if (what == 2 && found->second.nodes > 0) {
      pool_.Left(id);
      --found->second.nodes;
    }
    Apply();
  }

  void End(ConnectionPool::Id id) {
    if (connections_.erase(id) > 0) pool_.Ended(id);
    Apply();
  }

  void Wait(Duration duration) {
    now_ += duration;
    Apply();
  }

  ConnectionPool::Id newest() const { return last_; }

 private:
  struct Connection {
    std::string received;
    bool has_spoken = false;
    bool handed_over = false;
    int nodes = 0;
  };

  void Apply() {
    const ConnectionPool::Changes changes = pool_.Apply(now_);
    for (const ConnectionPool::Id id : changes.hand_over) {
      const auto found = connections_.find(id);
      // gRPC must get a connection only once, and only after the client has
      // sent the beginning of a session. The connection stays in connections_,
      // because the pool may close it later to make room for others.
      MUSTER_CHECK(found != connections_.end() && found->second.has_spoken &&
                   !found->second.handed_over);
      found->second.handed_over = true;
    }
    for (const ConnectionPool::Id id : changes.close) {
      const auto found = connections_.find(id);
      MUSTER_CHECK(found != connections_.end() && found->second.nodes == 0);
      connections_.erase(found);
    }
    CheckLimits();
  }

  void CheckLimits() const {
    MUSTER_CHECK(pool_.size() == connections_.size());
    MUSTER_CHECK(pool_.on_trial().size() <= kLimits.on_trial);
    MUSTER_CHECK(pool_.callers().size() <= kLimits.callers);
    const auto waiting = static_cast<size_t>(
        std::count_if(connections_.begin(), connections_.end(),
                      [](const auto& one) { return !one.second.handed_over; }));
    MUSTER_CHECK(waiting <= kLimits.waiting) << waiting;
    MUSTER_CHECK(!pool_.NeedsApply(now_));
    MUSTER_CHECK(!pool_.NextDeadline().has_value() ||
                 *pool_.NextDeadline() > now_);
  }

  Instant now_ = Instant(std::chrono::hours(1));
  ConnectionPool pool_{kLimits};
  std::map<ConnectionPool::Id, Connection> connections_;
  ConnectionPool::Id last_ = 0;
};

void FuzzConnections(std::string_view input) {
  constexpr std::string_view kPieces[] = {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                                          "PRI * HTTP/2.0\r\n",
                                          "\r\nSM\r\n\r\n",
                                          "\x16\x03\x01",
                                          "\x16",
                                          "\x03",
                                          "GET / HTTP/1.1\r\n",
                                          "P"};
  Front front;
  while (input.size() >= 2) {
    const size_t turn = static_cast<unsigned char>(input[0]);
    const size_t which = static_cast<unsigned char>(input[1]);
    input.remove_prefix(2);
    const ConnectionPool::Id id = front.newest() - which % 16;
    switch (turn % 8) {
      case 0:
      case 1:
        front.Open(static_cast<int>(which % 5));
        break;
      case 2:
        front.Receive(id, kPieces[turn / 8 % std::size(kPieces)]);
        break;
      case 3:
        front.Receive(id, input.substr(0, turn / 8));
        input.remove_prefix(std::min(turn / 8, input.size()));
        break;
      case 4:
      case 5:
        front.Call(id, static_cast<int>(turn / 8 % 3));
        break;
      case 6:
        front.End(id);
        break;
      default:
        front.Wait(std::chrono::milliseconds(which * 20));
        break;
    }
  }
}

// Returns the port of a probe server, which runs until the program ends.
int ProbePort() {
  static const ProbeServer& server = *[] {
    auto started = ProbeServer::Start(
        {"127.0.0.1", 0},
        {.live = [] { return absl::OkStatus(); },
         .started = [] { return absl::UnavailableError("not yet"); },
         .ready = [] { return absl::OkStatus(); }});
    MUSTER_CHECK(started.ok()) << started.status();
    return started->release();
  }();
  return server.address().port;
}

// Sends an HTTP request in two pieces, divided at byte `cut`, and returns the
// server's whole answer.
std::string Ask(std::string_view request, size_t cut) {
  const OwnedFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // Close the connection with a reset. Otherwise each of the millions of
  // connections would stay in the state TIME_WAIT for a while, and the ports
  // would run out.
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  const timeval deadline = {.tv_sec = 9, .tv_usec = 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof(deadline));
  const SocketAddress address = *NumericAddress("127.0.0.1", ProbePort());
  MUSTER_CHECK(connect(fd.get(), address.get(), address.size) == 0) << errno;
  for (const std::string_view piece :
       {request.substr(0, cut), request.substr(cut)}) {
    // No error is checked: the server may have closed the connection after the
    // first piece.
    send(fd.get(), piece.data(), piece.size(), MSG_NOSIGNAL);
  }
  shutdown(fd.get(), SHUT_WR);
  std::string answer;
  char bytes[4096];
  while (true) {
    const ssize_t got = recv(fd.get(), bytes, sizeof(bytes), 0);
    MUSTER_CHECK(got >= 0 || errno == ECONNRESET) << errno;
    if (got <= 0) return answer;
    answer.append(bytes, static_cast<size_t>(got));
  }
}

void FuzzRequest(std::string_view input) {
  constexpr std::string_view kRequests[] = {
      "GET /livez HTTP/1.1\r\nHost: a\r\nUser-Agent: kube-probe/1.29\r\n\r\n",
      "HEAD /startupz?verbose HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
      "POST /readyz HTTP/1.1\r\nContent-Length: 2\r\n\r\nab",
      "GET /readyz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "",
  };
  if (input.size() < 2) return;
  const size_t kind = static_cast<unsigned char>(input[0]);
  const size_t cut = static_cast<unsigned char>(input[1]);
  input.remove_prefix(2);
  const std::string_view sound = kRequests[kind % std::size(kRequests)];
  const std::string request =
      sound.empty() ? std::string(input) : EditedBytes(sound, input);
  const std::string answer = Ask(request, std::min(cut, request.size()));
  if (answer.empty()) return;
  const size_t headers = answer.find("\r\n\r\n");
  MUSTER_CHECK(headers != std::string::npos) << answer;
  MUSTER_CHECK(answer.starts_with("HTTP/1.")) << answer;
  const std::string code = answer.substr(9, 3);
  MUSTER_CHECK(code == "200" || code == "404" || code == "405" || code == "503")
      << answer;
  constexpr std::string_view kLength = "Content-Length: ";
  const size_t length = answer.find(kLength);
  size_t told = 0;
  MUSTER_CHECK(length < headers &&
               absl::SimpleAtoi(answer.substr(length + kLength.size(),
                                              answer.find('\r', length) -
                                                  length - kLength.size()),
                                &told))
      << answer;
  const size_t body = answer.size() - headers - 4;
  MUSTER_CHECK(body == told || (body == 0 && request.starts_with("HEAD")))
      << answer;
  if (code != "200") return;
  MUSTER_CHECK(request.find("/livez") != std::string::npos ||
               request.find("/readyz") != std::string::npos)
      << request;
}

void FuzzTexts(std::string_view input) {
  const std::string text(input);
  for (const char* family : {"ipv4:", "ipv6:"}) {
    const std::string peer = family + text;
    const std::string ip = PeerIp(peer);
    MUSTER_CHECK(PeerKey(peer).empty() == ip.empty() || ip.starts_with("%"));
  }
  const auto endpoints = ParseEndpoints(text);
  if (endpoints.ok()) {
    const auto again = ParseEndpoints(EndpointsText(*endpoints));
    MUSTER_CHECK(again.ok() && *again == *endpoints) << text;
  }
  const auto endpoint = ParseEndpoint(text);
  if (!endpoint.ok()) return;
  MUSTER_CHECK(!endpoint->host.empty());
  MUSTER_CHECK(endpoint->port >= 0 && endpoint->port <= 65535);
  const auto again = ParseEndpoint(endpoint->ToString());
  MUSTER_CHECK(again.ok() && *again == *endpoint) << endpoint->ToString();
}

}  // namespace

void RunFuzzCase(std::string_view input) {
  if (input.empty()) return;
  const int kind = static_cast<unsigned char>(input[0]) % 4;
  input.remove_prefix(1);
  if (kind < 2) return FuzzConnections(input);
  if (kind == 2) return FuzzRequest(input);
  FuzzTexts(input);
  FuzzTexts(EditedBytes("[fe80::1%25eth0]:29400", input));
}

}  // namespace muster
