#include "trainer_sdk/tcp/rendezvous.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/channel_key.h"
#include "base/monotonic_clock.h"
#include "base/net/tls_stream.h"
#include "base/poll.h"
#include "trainer_sdk/store/in_process_store.h"
#include "trainer_sdk/tcp/reception.h"

namespace muster {
namespace {

using testing::HasSubstr;

constexpr char kLoopback[] = "127.0.0.1";

GroupPlace PlaceOf(std::shared_ptr<Store> store, int rank, int size) {
  return GroupPlace{rank, size, std::move(store), "world"};
}

Instant In(Duration duration) { return MonotonicNow() + duration; }

// Connects `fd` to the address that a rank has published; `where` is the
// published text.
void Connect(int fd, const std::string& where) {
  const std::vector<std::string> words = absl::StrSplit(where, ' ');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(std::stoi(words[1])));
  inet_pton(AF_INET, kLoopback, &address.sin_addr);
  const int done =
      connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  // connect may fail with ECONNRESET: a rank that cannot accept the connection
  // may reset it before connect returns.
  EXPECT_TRUE(done == 0 || errno == ECONNRESET) << std::strerror(errno);
}

OwnedFd Call(const std::string& where) {
  OwnedFd caller(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Connect(caller.get(), where);
  return caller;
}

// The listener of a rank that this test simulates.
class Listening {
 public:
  Listening() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    inet_pton(AF_INET, kLoopback, &address.sin_addr);
    auto* const at = reinterpret_cast<sockaddr*>(&address);
    socklen_t length = sizeof(address);
    EXPECT_EQ(bind(socket_.get(), at, length), 0);
    EXPECT_EQ(listen(socket_.get(), 4), 0);
    EXPECT_EQ(getsockname(socket_.get(), at, &length), 0);
    told_ = absl::StrCat(kLoopback, " ", ntohs(address.sin_port), " 4711 h");
  }

  // The text that the simulated rank publishes in the store.
  const std::string& told() const { return told_; }
  OwnedFd Accept() {
    return OwnedFd(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

 private:
  const OwnedFd socket_;
  std::string told_;
};

TEST(Rendezvous, TurnsStrangersAway) {
  const auto store = std::make_shared<InProcessStore>();
  absl::StatusOr<ConnectedRanks> ranks[2];
  std::thread first([&] {
    ranks[0] = ConnectRanks(PlaceOf(store, 0, 2), kLoopback, std::nullopt,
                            In(std::chrono::seconds(30)));
  });
  // A process that is not a rank connects to rank 0 before rank 1 does, and
  // sends random bytes. Ranks 0 and 1 must form a group nevertheless.
  const auto where = store->Get("tcp/0", In(std::chrono::seconds(30)));
  ASSERT_TRUE(where.ok()) << where.status();
  const OwnedFd stranger = Call(*where);
  const std::string hello(1000, 'x');
  ASSERT_GT(send(stranger.get(), hello.data(), hello.size(), MSG_NOSIGNAL), 0);

  ranks[1] = ConnectRanks(PlaceOf(store, 1, 2), kLoopback, std::nullopt,
                          In(std::chrono::seconds(30)));
  first.join();
  ASSERT_TRUE(ranks[0].ok()) << ranks[0].status();
  ASSERT_TRUE(ranks[1].ok()) << ranks[1].status();
  // Check that the two ranks are connected to each other.
  ASSERT_EQ(send(ranks[0]->sockets[1].fd.get(), "hi", 2, 0), 2);
  char heard[2];
  ASSERT_EQ(recv(ranks[1]->sockets[0].fd.get(), heard, 2, MSG_WAITALL), 2);
  EXPECT_EQ(std::string(heard, 2), "hi");
  EXPECT_EQ(ranks[1]->names[0].rank, 0);
  EXPECT_EQ(ranks[1]->names[0].pid, getpid());
}

// Several callers never identify themselves. Rank 0 must handle them
// concurrently: one after another, they would use up the deadline.
TEST(Rendezvous, SilentStrangersHoldNobodyUp) {
  const auto store = std::make_shared<InProcessStore>();
  const Instant deadline = In(std::chrono::seconds(60));
  absl::StatusOr<ConnectedRanks> first;
  std::thread rank0([&] {
    first =
        ConnectRanks(PlaceOf(store, 0, 2), kLoopback, std::nullopt, deadline);
  });
  const auto where = store->Get("tcp/0", deadline);
  ASSERT_TRUE(where.ok()) << where.status();
  std::vector<OwnedFd> strangers;
  strangers.reserve(20);
  for (int i = 0; i < 20; ++i) strangers.push_back(Call(*where));
  const auto second =
      ConnectRanks(PlaceOf(store, 1, 2), kLoopback, std::nullopt, deadline);
  rank0.join();
  EXPECT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(second.ok()) << second.status();
}

TlsContext Tls(char fill = 'k') {
  return TlsContext::Make(std::string(kChannelKeyBytes, fill), "test").value();
}

// Three ranks with the key form a group. Meanwhile, four callers without the
// key connect. The first sends the group's secret, which it has read in the
// store. The second sends random bytes that look like TLS. The third has
// another key. The fourth sends nothing.
TEST(Rendezvous, StrangersWithoutTheKeyGetNothingAndHarmNobody) {
  const auto store = std::make_shared<InProcessStore>();
  const Instant deadline = In(std::chrono::seconds(60));
  absl::StatusOr<ConnectedRanks> ranks[3];
  std::vector<std::thread> threads;
  const auto join = [&](int rank) {
    threads.emplace_back([&, rank] {
      ranks[rank] =
          ConnectRanks(PlaceOf(store, rank, 3), kLoopback, Tls(), deadline);
    });
  };
  join(0);
  const auto where = store->Get("tcp/0", deadline);
  ASSERT_TRUE(where.ok()) << where.status();
  const auto secret = store->Get("tcp/secret", deadline);
  ASSERT_TRUE(secret.ok()) << secret.status();
  const OwnedFd in_clear = Call(*where);
  Hello hello{};
  std::memcpy(hello.magic, kHelloMagic, sizeof(kHelloMagic));
  std::memcpy(hello.secret, secret->data(), kSecretBytes);
  hello.rank = 1;
  hello.size = 3;
  ASSERT_EQ(send(in_clear.get(), &hello, sizeof(hello), MSG_NOSIGNAL),
            sizeof(hello));
  const OwnedFd noise = Call(*where);
  const std::string record = "\x16\x03\x01\x02\x7f" + std::string(600, 'n');
  ASSERT_GT(send(noise.get(), record.data(), record.size(), MSG_NOSIGNAL), 0);
  const OwnedFd silent = Call(*where);
  join(1);
  join(2);
  const OwnedFd other_key = Call(*where);
  TlsStream stream(Tls('x'), TlsStream::Side::kClient, other_key.get());
  EXPECT_FALSE(stream.FinishHandshake(deadline).ok());
  for (std::thread& thread : threads) thread.join();
  for (const auto& rank : ranks) ASSERT_TRUE(rank.ok()) << rank.status();

  // The caller knows the group's secret, but not the TLS key, so it must not
  // have received a greeting.
  char heard[sizeof(Hello)] = {};
  const ssize_t n = recv(in_clear.get(), heard, sizeof(heard), MSG_WAITALL);
  EXPECT_LT(n, static_cast<ssize_t>(sizeof(heard)));
  iovec sent = {const_cast<char*>("hi"), 2};
  ASSERT_EQ(ranks[2]->sockets[0].Send({&sent, 1}), 2);
  ASSERT_TRUE(PollUntil(ranks[0]->sockets[2].fd.get(), POLLIN, deadline));
  iovec received = {heard, 2};
  ASSERT_EQ(ranks[0]->sockets[2].Receive({&received, 1}), 2);
  EXPECT_EQ(std::string(heard, 2), "hi");
}

// A process without the key listens at a rank's address. A rank that connects
// to this address must detect the missing key before it sends any data.
TEST(Rendezvous, ImpostorWithoutTheKeyIsRefused) {
  const auto store = std::make_shared<InProcessStore>();
  Listening impostor;
  ASSERT_TRUE(store->Set("tcp/secret", std::string(32, '0')).ok());
  ASSERT_TRUE(store->Set("tcp/0", impostor.told()).ok());
  std::thread thread([&] {
    const OwnedFd call = impostor.Accept();
    TlsStream stream(Tls('x'), TlsStream::Side::kServer, call.get());
    EXPECT_FALSE(stream.FinishHandshake(In(std::chrono::seconds(60))).ok());
  });
  const auto ranks = ConnectRanks(PlaceOf(store, 1, 2), kLoopback, Tls(),
                                  In(std::chrono::seconds(60)));
  thread.join();
  EXPECT_TRUE(absl::IsPermissionDenied(ranks.status())) << ranks.status();
  EXPECT_THAT(std::string(ranks.status().message()),
              HasSubstr("rank 0 (host h, pid 4711) at 127.0.0.1:"));
}

TEST(Rendezvous, SaysThatItHasNoDescriptorForACall) {
#if defined(__SANITIZE_ADDRESS__)
  // This test runs rank 0 without a free descriptor. Builds with
  // AddressSanitizer skip the test, because the sanitizer itself needs two
  // descriptors for a pipe.
  GTEST_SKIP() << "needs the last descriptor, as the sanitizer does";
#endif
  const auto store = std::make_shared<InProcessStore>();
  Listening above;
  ASSERT_TRUE(store->Set("tcp/1", above.told()).ok());
  absl::StatusOr<ConnectedRanks> ranks;
  std::thread rank0([&] {
    ranks = ConnectRanks(PlaceOf(store, 0, 2), kLoopback, std::nullopt,
                         In(std::chrono::seconds(60)));
  });
  const auto where = store->Get("tcp/0", In(std::chrono::seconds(60)));
  ASSERT_TRUE(where.ok()) << where.status();
  // When rank 0's connection arrives at this test's listener, rank 0 has opened
  // all descriptors that it needs before it accepts a connection. So the test
  // can lower the process's limit of open descriptors now.
  const OwnedFd watched = above.Accept();
  // Lower the process's limit of open descriptors, so that rank 0 cannot accept
  // a connection. Then connect to rank 0 with `caller`, a descriptor that is
  // opened before the limit is lowered.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  OwnedFd caller(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int next = fcntl(caller.get(), F_DUPFD_CLOEXEC, 0);
  close(next);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(next);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  Connect(caller.get(), *where);
  rank0.join();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(absl::IsResourceExhausted(ranks.status())) << ranks.status();
  EXPECT_THAT(std::string(ranks.status().message()), HasSubstr("ulimit -n"));
}

TEST(Rendezvous, NamesWhoDidNotCome) {
  const auto store = std::make_shared<InProcessStore>();
  const auto ranks = ConnectRanks(PlaceOf(store, 0, 2), kLoopback, std::nullopt,
                                  In(std::chrono::milliseconds(20)));
  EXPECT_TRUE(absl::IsDeadlineExceeded(ranks.status())) << ranks.status();
  EXPECT_THAT(std::string(ranks.status().message()), HasSubstr("tcp/1"));
}

TEST(Rendezvous, NamesWhoListensNoMore) {
  const auto store = std::make_shared<InProcessStore>();
  // Simulate a rank 0 that has published its port and then died: no process
  // listens on port 1.
  ASSERT_TRUE(store->Set("tcp/secret", std::string(32, '0')).ok());
  ASSERT_TRUE(store->Set("tcp/0", "127.0.0.1 1 4711 gone").ok());
  const auto ranks = ConnectRanks(PlaceOf(store, 1, 2), kLoopback, std::nullopt,
                                  In(std::chrono::seconds(30)));
  EXPECT_TRUE(absl::IsUnavailable(ranks.status())) << ranks.status();
  EXPECT_THAT(std::string(ranks.status().message()),
              HasSubstr("rank 0 (host gone, pid 4711) at 127.0.0.1:1"));
}

// Rank 1 dies after it has published its port and before it connects to rank 0.
// Rank 0's error must name rank 1.
TEST(Rendezvous, NamesWhoDiesBeforeItCalls) {
  const auto store = std::make_shared<InProcessStore>();
  auto next = std::make_unique<Listening>();
  ASSERT_TRUE(store->Set("tcp/1", next->told()).ok());
  absl::StatusOr<ConnectedRanks> ranks;
  std::thread rank0([&] {
    ranks = ConnectRanks(PlaceOf(store, 0, 2), kLoopback, std::nullopt,
                         In(std::chrono::seconds(30)));
  });
  // Accept rank 0's connection and close it, as a rank does with callers that
  // do not identify themselves. Rank 0 must then connect again; the next Accept
  // waits for that.
  ASSERT_TRUE(next->Accept().open());
  OwnedFd watched = next->Accept();
  ASSERT_TRUE(watched.open());
  watched.Close();
  next.reset();
  rank0.join();
  EXPECT_TRUE(absl::IsUnavailable(ranks.status())) << ranks.status();
  EXPECT_THAT(std::string(ranks.status().message()),
              HasSubstr("rank 1 (host h, pid 4711) at 127.0.0.1:"));
}

TEST(Rendezvous, RefusesWhatTheStoreMustNotHold) {
  for (const char* const told :
       {"127.0.0.1 0 1 h", "127.0.0.1 99999 1 h", "nowhere 1 1 h", "", "1 2"}) {
    const auto store = std::make_shared<InProcessStore>();
    ASSERT_TRUE(store->Set("tcp/secret", std::string(32, '0')).ok());
    ASSERT_TRUE(store->Set("tcp/0", told).ok());
    EXPECT_FALSE(ConnectRanks(PlaceOf(store, 1, 2), kLoopback, std::nullopt,
                              In(std::chrono::seconds(30)))
                     .ok())
        << told;
  }
}

}  // namespace
}  // namespace muster
