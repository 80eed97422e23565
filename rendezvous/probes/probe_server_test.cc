#include "rendezvous/probes/probe_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/owned_fd.h"

namespace muster::rendezvous {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Probes Steady() {
  const auto ok = [] { return absl::OkStatus(); };
  return {.live = ok, .started = ok, .ready = ok};
}

std::unique_ptr<ProbeServer> Serve(Probes probes,
                                   const std::string& host = "127.0.0.1") {
  auto server = ProbeServer::Start({host, 0}, std::move(probes));
  EXPECT_TRUE(server.ok()) << server.status();
  return server.ok() ? *std::move(server) : nullptr;
}

OwnedFd Dial(const ProbeServer& server) {
  OwnedFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(server.address().port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  timeval timeout = {30, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
  return fd;
}

// Reads until the server closes the connection.
std::string ReadAll(const OwnedFd& fd) {
  std::string all;
  char buffer[4096];
  for (;;) {
    const ssize_t got = read(fd.get(), buffer, sizeof(buffer));
    if (got <= 0) return all;
    all.append(buffer, static_cast<size_t>(got));
  }
}

std::string Ask(const ProbeServer& server, const std::string& request) {
  const OwnedFd fd = Dial(server);
  EXPECT_EQ(send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  return ReadAll(fd);
}

TEST(ProbeServerTest, AnswersWhatHoldsNow) {
  std::atomic<bool> ready{false};
  Probes probes = Steady();
  probes.ready = [&] {
    return ready ? absl::OkStatus()
                 : absl::UnavailableError("nobody else is here");
  };
  const auto server = Serve(std::move(probes));
  const std::string request = "GET /readyz HTTP/1.1\r\nHost: pod\r\n\r\n";
  const std::string before = Ask(*server, request);
  EXPECT_THAT(before, StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_THAT(before, EndsWith("\r\n\r\nnobody else is here\n"));
  ready = true;
  const std::string after = Ask(*server, request);
  EXPECT_THAT(after, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(after, HasSubstr("Content-Length: 3\r\n"));
  EXPECT_THAT(after, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(after, EndsWith("\r\n\r\nok\n"));
}

TEST(ProbeServerTest, AHeadRequestGetsNoBody) {
  const auto server = Serve(Steady());
  const std::string answer =
      Ask(*server, "HEAD /livez HTTP/1.1\r\nHost: pod\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST(ProbeServerTest, NonsenseGetsTheConnectionClosedAndNothingElse) {
  const auto server = Serve(Steady());
  for (const std::string& nonsense :
       {std::string("\x16\x03\x01\x02\r\n\r\n", 8), std::string("GET\r\n\r\n"),
        "GET /livez HTTP/1.1\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n",
        std::string(
            "POST /livez HTTP/1.1\r\nContent-Length: 9\r\n\r\nabcdefghi")}) {
    const OwnedFd fd = Dial(*server);
    (void)send(fd.get(), nonsense.data(), nonsense.size(), MSG_NOSIGNAL);
    EXPECT_EQ(ReadAll(fd), "");
  }
  EXPECT_THAT(Ask(*server, "GET /livez HTTP/1.1\r\n\r\n"),
              StartsWith("HTTP/1.1 200"));
}

TEST(ProbeServerTest, TheSilentDoNotKeepOthersFromAsking) {
  const auto server = Serve(Steady());
  std::vector<OwnedFd> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(Dial(*server));
  EXPECT_THAT(Ask(*server, "GET /livez HTTP/1.1\r\n\r\n"),
              StartsWith("HTTP/1.1 200"));
}

TEST(ProbeServerTest, SlowPeersBeyondTheLimitMakeWayForNewcomers) {
  const auto server = Serve(Steady());
  std::vector<OwnedFd> slow;
  for (int i = 0; i < 70; ++i) {
    slow.push_back(Dial(*server));
    EXPECT_EQ(send(slow.back().get(), "GET /li", 7, MSG_NOSIGNAL), 7);
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(Ask(*server, "GET /livez HTTP/1.1\r\n\r\n"),
                StartsWith("HTTP/1.1 200"));
  }
  for (int i = 0; i < 6; ++i) EXPECT_EQ(ReadAll(slow[i]), "") << i;
}

TEST(ProbeServerTest, ServesIpv4AtTheUnspecifiedAddress) {
  const auto server = Serve(Steady(), "0.0.0.0");
  EXPECT_THAT(Ask(*server, "GET /startupz HTTP/1.1\r\n\r\n"),
              StartsWith("HTTP/1.1 200"));
}

TEST(ProbeServerTest, SaysWhyItCannotListen) {
  const auto first = Serve(Steady());
  const auto second = ProbeServer::Start(first->address(), Steady());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(
      std::string(second.status().message()),
      HasSubstr(first->address().ToString() + ": Address already in use"));
  const auto nowhere = ProbeServer::Start({"192.0.2.1", 0}, Steady());
  EXPECT_THAT(std::string(nowhere.status().message()),
              HasSubstr("192.0.2.1:0: "));
}

TEST(ProbeServerTest, MetricsAreServedIfThereAreAny) {
  EXPECT_THAT(Ask(*Serve(Steady()), "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"),
              StartsWith("HTTP/1.1 404"));
  Probes probes = Steady();
  const Page page = std::make_shared<const std::string>("muster_up 1\n");
  probes.metrics = [&] { return page; };
  const auto server = Serve(std::move(probes));
  const std::string answer =
      Ask(*server, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4; "
                                "charset=utf-8\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\nmuster_up 1\n"));
  EXPECT_THAT(Ask(*server, "POST /metrics HTTP/1.1\r\nHost: a\r\n\r\n"),
              StartsWith("HTTP/1.1 405"));
}

TEST(ProbeServerTest, SlowPeersShareOneCopyOfThePage) {
  Probes probes = Steady();
  // The page is larger than a connection's buffers, so that an answer stays in
  // progress until its client has read it.
  const Page page = std::make_shared<const std::string>(32 << 20, 'x');
  probes.metrics = [&] { return page; };
  const auto server = Serve(std::move(probes));
  std::vector<OwnedFd> slow;
  for (int i = 0; i < 4; ++i) {
    slow.push_back(Dial(*server));
    const std::string request = "GET /metrics HTTP/1.1\r\n\r\n";
    ASSERT_EQ(send(slow.back().get(), request.data(), request.size(), 0),
              static_cast<ssize_t>(request.size()));
    char first = 0;
    ASSERT_EQ(read(slow.back().get(), &first, 1), 1);
  }
  // The 4 answers share the page without copies: each answer holds one
  // reference to it, and the test holds one.
  EXPECT_GE(page.use_count(), 1 + 4);
  const std::string answer = ReadAll(slow[0]);
  EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, page->size());
}

TEST(ServePagesTest, OneServerIsEnoughForOneAddress) {
  const auto metrics = [] { return std::string("muster_up 1\n"); };
  const Endpoint any = {"127.0.0.1", 0};
  std::vector<std::string> said;
  const auto say = [&](const std::string& line) { said.push_back(line); };
  const auto none = ServePages({}, Steady(), metrics, say);
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_TRUE(none->empty());
  EXPECT_TRUE(said.empty());
  const auto one =
      ServePages({.probes = any, .metrics = any}, Steady(), metrics, say);
  ASSERT_TRUE(one.ok()) << one.status();
  ASSERT_EQ(one->size(), 1u);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0], "metrics on http://" + one->front()->address().ToString() +
                         "/metrics");
  EXPECT_THAT(Ask(*one->front(), "GET /metrics HTTP/1.1\r\n\r\n"),
              EndsWith("muster_up 1\n"));
  EXPECT_THAT(Ask(*one->front(), "GET /livez HTTP/1.1\r\n\r\n"),
              StartsWith("HTTP/1.1 200"));
  const auto two = ServePages({.probes = {{"127.0.0.2", 0}}, .metrics = any},
                              Steady(), metrics, nullptr);
  ASSERT_TRUE(two.ok()) << two.status();
  ASSERT_EQ(two->size(), 2u);
  const auto three = ServePages(
      {.probes = {{"127.0.0.2", 0}}, .metrics = any, .dashboard = any},
      Steady(), metrics, nullptr);
  ASSERT_TRUE(three.ok()) << three.status();
  EXPECT_EQ(three->size(), 2u);
  const auto taken = ServePages({.probes = one->front()->address()}, Steady(),
                                metrics, nullptr);
  EXPECT_THAT(std::string(taken.status().message()),
              StartsWith("--probe-listen: "));
}

TEST(ProbeServerTest, FurtherPagesAreAskedFirstAndSeeTheRequest) {
  Probes probes = Steady();
  probes.pages = [](const PageRequest& request) -> std::optional<ProbeAnswer> {
    if (request.target != "/api?x=1") return std::nullopt;
    return ProbeAnswer{
        .body = std::make_shared<const std::string>(
            request.method + " " + request.host + " " + request.authorization),
        .headers = {{"X-Content-Type-Options", "nosniff"}},
        .more = nullptr};
  };
  const auto server = Serve(std::move(probes));
  const std::string answer =
      Ask(*server,
          "GET /api?x=1 HTTP/1.1\r\nHost: a:1\r\nAuthorization: Bearer "
          "b\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\nGET a:1 Bearer b"));
  EXPECT_THAT(Ask(*server, "GET /livez HTTP/1.1\r\n\r\n"),
              EndsWith("\r\n\r\nok\n"));
}

TEST(ProbeServerTest, AStreamSendsItsPiecesAndEnds) {
  Probes probes = Steady();
  probes.pages = [](const PageRequest&) -> std::optional<ProbeAnswer> {
    using Piece = std::shared_ptr<const std::string>;
    const auto calls = std::make_shared<int>(0);
    return ProbeAnswer{
        .body = std::make_shared<const std::string>("first "),
        .content_type = "text/event-stream",
        .headers = {},
        .more = [calls]() -> std::optional<Piece> {
          switch (++*calls) {
            case 1:
              return std::make_shared<const std::string>("second ");
            case 2:
              return Piece();  // no bytes at this time
            case 3:
              return std::make_shared<const std::string>("third");
            default:
              return std::nullopt;
          }
        }};
  };
  const auto server = Serve(std::move(probes));
  const std::string answer = Ask(*server, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(answer, Not(HasSubstr("Content-Length")));
  EXPECT_THAT(answer, EndsWith("\r\n\r\nfirst second third"));
}

// Serves a stream that always has another mebibyte, and fulfils `ended` when
// the stream is destroyed.
Probes EndlessStream(std::promise<void>* ended) {
  Probes probes = Steady();
  probes.pages =
      [ended](const PageRequest& request) -> std::optional<ProbeAnswer> {
    if (request.target != "/") return std::nullopt;
    const std::shared_ptr<void> end(nullptr,
                                    [ended](void*) { ended->set_value(); });
    const auto piece =
        std::make_shared<const std::string>(std::string(1 << 20, 'x'));
    return ProbeAnswer{.body = std::make_shared<const std::string>(),
                       .headers = {},
                       .more = [end, piece] { return std::optional(piece); }};
  };
  return probes;
}

// Serves a stream that never sends anything after its first byte, and fulfils
// `ended` when the stream is destroyed.
Probes QuietStream(std::promise<void>* ended) {
  Probes probes = Steady();
  probes.pages = [ended](const PageRequest&) -> std::optional<ProbeAnswer> {
    const std::shared_ptr<void> end(nullptr,
                                    [ended](void*) { ended->set_value(); });
    return ProbeAnswer{.body = std::make_shared<const std::string>("x"),
                       .headers = {},
                       .more = [end] { return std::optional(Page()); }};
  };
  return probes;
}

OwnedFd DialForStream(const ProbeServer& server) {
  OwnedFd fd = Dial(server);
  const std::string request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  EXPECT_EQ(send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  char first = 0;
  EXPECT_EQ(read(fd.get(), &first, 1), 1);
  return fd;
}

TEST(ProbeServerTest, AStreamWhoseClientLeavesIsDestroyed) {
  std::promise<void> ended;
  const auto server = Serve(EndlessStream(&ended));
  DialForStream(*server);
  EXPECT_EQ(ended.get_future().wait_for(std::chrono::seconds(30)),
            std::future_status::ready);
}

TEST(ProbeServerTest, AStreamWithoutNewsIsDestroyedAtOnceWhenItsClientLeaves) {
  std::promise<void> ended;
  const auto server = Serve(QuietStream(&ended));
  DialForStream(*server);
  EXPECT_EQ(ended.get_future().wait_for(std::chrono::seconds(30)),
            std::future_status::ready);
}

TEST(ProbeServerTest, AClientThatDoesNotReadIsDroppedAfterTenSeconds) {
  std::promise<void> ended;
  const auto server = Serve(EndlessStream(&ended));
  const OwnedFd fd = DialForStream(*server);
  EXPECT_THAT(Ask(*server, "GET /livez HTTP/1.1\r\n\r\n"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(ended.get_future().wait_for(std::chrono::seconds(40)),
            std::future_status::ready);
}

TEST(CachedPageTest, APageIsReusedInProportionToItsCost) {
  Instant now{std::chrono::hours(1)};
  int made = 0;
  const auto page = CachedPage(
      [&] {
        now += std::chrono::milliseconds(30);
        return std::to_string(++made);
      },
      [&] { return now; });
  const Page first = page();
  EXPECT_EQ(*first, "1");
  now += std::chrono::milliseconds(599);
  EXPECT_EQ(page(), first) << "no copy";
  now += std::chrono::milliseconds(1);
  EXPECT_EQ(*page(), "2");
}

TEST(ProbeAnswerTest, EachPathIsItsQuestion) {
  const Probes probes = {
      .live = [] { return absl::OkStatus(); },
      .started = [] { return absl::UnavailableError("not yet"); },
      .ready = [] { return absl::UnavailableError("it waits"); }};
  const struct {
    const char* method;
    const char* target;
    int status;
    const char* body;
  } cases[] = {
      {"GET", "/livez", 200, "ok\n"},
      {"HEAD", "/livez", 200, "ok\n"},
      {"GET", "/livez?verbose", 200, "ok\n"},
      {"GET", "/startupz", 503, "not yet\n"},
      {"GET", "/readyz", 503, "it waits\n"},
      {"POST", "/livez", 405, "GET and HEAD only\n"},
      {"GET", "/", 404, "there are /livez, /startupz and /readyz\n"},
      {"GET", "", 404, "there are /livez, /startupz and /readyz\n"},
      {"GET", "/livezz", 404, "there are /livez, /startupz and /readyz\n"},
  };
  for (const auto& c : cases) {
    const ProbeAnswer answer = AnswerProbe(probes, c.method, c.target);
    EXPECT_EQ(answer.status, c.status) << c.method << " " << c.target;
    EXPECT_EQ(*answer.body, c.body) << c.method << " " << c.target;
  }
}

}  // namespace
}  // namespace muster::rendezvous
