#include "base/net/tls_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/monotonic_clock.h"
#include "base/owned_fd.h"
#include "base/poll.h"

namespace muster {
namespace {

using Side = TlsStream::Side;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr char kPurpose[] = "muster test";

std::string Key(char fill = 'k') { return std::string(32, fill); }

TlsContext Context(const std::string& key = Key(),
                   const std::string& purpose = kPurpose) {
  absl::StatusOr<TlsContext> context = TlsContext::Make(key, purpose);
  EXPECT_TRUE(context.ok()) << context.status();
  return *context;
}

std::pair<OwnedFd, OwnedFd> SocketPair() {
  int fds[2] = {-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  return {OwnedFd(fds[0]), OwnedFd(fds[1])};
}

Instant Soon() { return MonotonicNow() + seconds(30); }

// A client and a server whose handshake is complete.
class TlsPair {
 public:
  explicit TlsPair(const TlsStream::Options& options = {})
      : sockets_(SocketPair()),
        client(Context(), Side::kClient, client_fd(), options),
        server(Context(), Side::kServer, server_fd(), options) {
    absl::StatusOr<short> one = client.Handshake(), other = server.Handshake();
    while (one.ok() && other.ok() && (*one != 0 || *other != 0)) {
      one = client.Handshake();
      other = server.Handshake();
    }
    EXPECT_TRUE(one.ok()) << one.status();
    EXPECT_TRUE(other.ok()) << other.status();
  }

  int client_fd() const { return sockets_.first.get(); }
  int server_fd() const { return sockets_.second.get(); }
  void CloseClient() { sockets_.first.Close(); }

 private:
  std::pair<OwnedFd, OwnedFd> sockets_;

 public:
  TlsStream client;
  TlsStream server;
};

std::string RandomBytes(size_t count) {
  std::mt19937 random(7);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// Sends `bytes` from one end to the other on one thread, with partial writes
// and partial reads of many sizes, and returns the bytes that have arrived.
std::string Transfer(TlsStream& from, TlsStream& to, const std::string& bytes) {
  std::string arrived(bytes.size(), '\0');
  std::mt19937 random(11);
  size_t sent = 0, have = 0;
  while (have < bytes.size()) {
    if (sent < bytes.size()) {
      const ssize_t n = from.Write(bytes.data() + sent, bytes.size() - sent);
      if (n < 0) {
        EXPECT_EQ(errno, EAGAIN);
      } else {
        sent += static_cast<size_t>(n);
      }
    }
    for (;;) {
      const size_t asked =
          std::min<size_t>(bytes.size() - have, 1 + random() % 50'000);
      const ssize_t n = to.Read(arrived.data() + have, asked);
      if (n <= 0) {
        EXPECT_TRUE(n < 0 && errno == EAGAIN) << n << " " << errno;
        if (n == 0 || errno != EAGAIN) return "";
        break;
      }
      have += static_cast<size_t>(n);
      if (have == bytes.size()) break;
    }
  }
  return arrived;
}

TEST(TlsStream, SmallMessagesPassBothWays) {
  TlsPair pair;
  char buffer[16];
  EXPECT_EQ(pair.server.Read(buffer, sizeof(buffer)), -1);
  EXPECT_EQ(errno, EAGAIN) << "nothing was sent";
  ASSERT_EQ(pair.client.Write("hello", 5), 5);
  ASSERT_EQ(pair.server.Read(buffer, sizeof(buffer)), 5);
  EXPECT_EQ(std::string(buffer, 5), "hello");
  ASSERT_EQ(pair.server.Write("back", 4), 4);
  ASSERT_EQ(pair.client.Read(buffer, sizeof(buffer)), 4);
  EXPECT_EQ(std::string(buffer, 4), "back");
}

TEST(TlsStream, BytesOnTheSocketAreNotTheMessage) {
  TlsPair pair;
  const std::string secret = "thirty bytes of a secret message";
  ASSERT_EQ(pair.client.Write(secret.data(), secret.size()), 32);
  char wire[512];
  const ssize_t n = recv(pair.server_fd(), wire, sizeof(wire), MSG_PEEK);
  ASSERT_GT(n, 32);
  EXPECT_EQ(std::string(wire, static_cast<size_t>(n)).find("secret"),
            std::string::npos);
}

TEST(TlsStream, LargeTransferWithPartialWritesArrivesWhole) {
  TlsPair pair;
  const std::string bytes = RandomBytes(9 << 20);
  EXPECT_TRUE(Transfer(pair.client, pair.server, bytes) == bytes);
  EXPECT_TRUE(Transfer(pair.server, pair.client, bytes) == bytes);
}

TEST(TlsStream, SendingKeyChangesWithoutALoss) {
  TlsPair pair({.records_per_key = 3});
  const std::string bytes = RandomBytes(3 << 20);
  EXPECT_TRUE(Transfer(pair.client, pair.server, bytes) == bytes);
  EXPECT_TRUE(Transfer(pair.server, pair.client, bytes) == bytes);
}

TEST(TlsStream, PiecesAreJoinedIntoRecordsAndSpreadAgain) {
  TlsPair pair;
  const std::string bytes = RandomBytes(40'000);
  char* const data = const_cast<char*>(bytes.data());
  const std::vector<iovec> pieces = {
      {data, 64}, {data + 64, 0}, {data + 64, 30'000}, {data + 30'064, 9'936}};
  ASSERT_EQ(pair.client.Write(pieces), 40'000);
  std::string head(10, '\0'), rest(50'000, '\0');
  const std::vector<iovec> places = {{head.data(), head.size()},
                                     {rest.data(), rest.size()}};
  ASSERT_EQ(pair.server.Read(places), 40'000);
  EXPECT_TRUE(head + rest.substr(0, 39'990) == bytes);
}

TEST(TlsStream, WithoutBufferingTheRestStaysInTheSocket) {
  TlsPair pair({.buffering = TlsStream::Buffering::kNone});
  const std::string bytes = RandomBytes(100'000);
  ASSERT_EQ(pair.client.Write(bytes.data(), bytes.size()), 100'000);
  std::string arrived;
  std::string buffer(40'000, '\0');
  while (PollUntil(pair.server_fd(), POLLIN, kAtOnce)) {
    const ssize_t n = pair.server.Read(buffer.data(), buffer.size());
    ASSERT_GT(n, 0);
    arrived.append(buffer, 0, static_cast<size_t>(n));
  }
  EXPECT_TRUE(arrived == bytes) << arrived.size();
}

TEST(TlsStream, AWriteThatDidNotFitGoesOnWithMoreBytes) {
  TlsPair pair;
  const std::string bytes = RandomBytes(4 << 20);
  std::string arrived;
  std::string buffer(70'000, '\0');
  size_t offered = 10'000;
  for (size_t sent = 0; arrived.size() < bytes.size();) {
    // Copy the bytes anew for each call of Write, so that a retry may pass them
    // at another address than the failed call.
    const std::string next = bytes.substr(sent, offered);
    const ssize_t n = pair.client.Write(next.data(), next.size());
    if (n >= 0) {
      sent += static_cast<size_t>(n);
      if (sent < bytes.size()) continue;
    } else {
      ASSERT_EQ(errno, EAGAIN);
      offered += 3'000;
    }
    const ssize_t got = pair.server.Read(buffer.data(), buffer.size());
    if (got > 0) arrived.append(buffer, 0, static_cast<size_t>(got));
  }
  EXPECT_TRUE(arrived == bytes);
}

// Runs the handshake of a client and a server with these contexts. Returns the
// result of each.
std::pair<absl::Status, absl::Status> Handshake(const TlsContext& client,
                                                const TlsContext& server) {
  auto sockets = SocketPair();
  absl::Status server_status;
  std::thread thread([&] {
    TlsStream stream(server, Side::kServer, sockets.second.get());
    server_status = stream.FinishHandshake(Soon());
    sockets.second.Close();
  });
  TlsStream stream(client, Side::kClient, sockets.first.get());
  const absl::Status client_status = stream.FinishHandshake(Soon());
  sockets.first.Close();
  thread.join();
  return {client_status, server_status};
}

TEST(TlsStream, AnotherKeyIsRefusedByBothEnds) {
  const auto [client, server] = Handshake(Context(Key('a')), Context(Key('b')));
  EXPECT_TRUE(absl::IsPermissionDenied(client)) << client;
  EXPECT_TRUE(absl::IsPermissionDenied(server)) << server;
  EXPECT_THAT(std::string(server.message()), HasSubstr("key of this round"));
}

TEST(TlsStream, TheSameKeyForAnotherPurposeIsRefused) {
  const auto [client, server] =
      Handshake(Context(Key(), "muster tcp"), Context(Key(), "muster relay"));
  EXPECT_FALSE(client.ok());
  EXPECT_TRUE(absl::IsPermissionDenied(server)) << server;
}

TEST(TlsStream, AKeyOfAnotherLengthIsRefused) {
  EXPECT_TRUE(
      absl::IsInvalidArgument(TlsContext::Make("short", kPurpose).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      TlsContext::Make(std::string(33, 'k'), kPurpose).status()));
}

TEST(TlsStream, ClearTextIsRefused) {
  auto sockets = SocketPair();
  ASSERT_EQ(send(sockets.first.get(), "GET / HTTP/1.1\r\n\r\n", 18, 0), 18);
  TlsStream server(Context(), Side::kServer, sockets.second.get());
  EXPECT_TRUE(absl::IsPermissionDenied(server.FinishHandshake(Soon())));
  char byte;
  EXPECT_EQ(server.Read(&byte, 1), -1) << "the stream stays unusable";
  EXPECT_EQ(server.Write("x", 1), -1);
}

TEST(TlsStream, RandomBytesAreRefused) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    auto sockets = SocketPair();
    std::mt19937 random(seed);
    // Random bytes that the server must refuse. For every second seed they
    // begin like a TLS handshake record.
    std::string bytes(400, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (seed % 2 == 0) bytes.replace(0, 5, "\x16\x03\x01\x01\x80", 5);
    if (seed % 4 == 0) bytes.replace(5, 4, "\x01\x00\x01\x7c", 4);
    ASSERT_EQ(send(sockets.first.get(), bytes.data(), bytes.size(), 0), 400);
    ASSERT_EQ(shutdown(sockets.first.get(), SHUT_WR), 0);
    TlsStream server(Context(), Side::kServer, sockets.second.get());
    EXPECT_FALSE(server.FinishHandshake(Soon()).ok()) << seed;
  }
}

TEST(TlsStream, APeerThatSaysNothingIsWaitedForUntilTheDeadline) {
  auto sockets = SocketPair();
  TlsStream server(Context(), Side::kServer, sockets.second.get());
  const absl::StatusOr<short> events = server.Handshake();
  ASSERT_TRUE(events.ok());
  EXPECT_EQ(*events, POLLIN);
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      server.FinishHandshake(MonotonicNow() + std::chrono::milliseconds(5))));
}

TEST(TlsStream, APeerThatLeavesDuringTheHandshakeIsUnavailable) {
  auto sockets = SocketPair();
  TlsStream client(Context(), Side::kClient, sockets.first.get());
  ASSERT_TRUE(client.Handshake().ok());
  TlsStream server(Context(), Side::kServer, sockets.second.get());
  ASSERT_TRUE(server.Handshake().ok());
  sockets.first.Close();
  EXPECT_TRUE(absl::IsUnavailable(server.FinishHandshake(Soon())));
}

TEST(TlsStream, ForgedRecordEndsTheConnection) {
  TlsPair pair;
  ASSERT_EQ(pair.client.Write("sound", 5), 5);
  const std::string forged =
      std::string("\x17\x03\x03\x00\x20", 5) + std::string(32, 'f');
  ASSERT_EQ(send(pair.client_fd(), forged.data(), forged.size(), 0), 37);
  char buffer[64];
  EXPECT_EQ(pair.server.Read(buffer, sizeof(buffer)), 5)
      << "what came before is delivered";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(pair.server.Read(buffer, sizeof(buffer)), -1);
    EXPECT_EQ(errno, EBADMSG);
  }
}

TEST(TlsStream, DamagedRecordEndsTheConnection) {
  auto relayed = SocketPair();
  TlsPair pair;
  ASSERT_EQ(pair.client.Write("twelve bytes", 12), 12);
  // Takes the client's encrypted TLS record from the server's socket, changes
  // one bit, and sends the record to the server again.
  char record[256];
  const ssize_t n = recv(pair.server_fd(), record, sizeof(record), 0);
  ASSERT_GT(n, 12);
  record[n - 3] ^= 1;
  ASSERT_EQ(send(pair.client_fd(), record, static_cast<size_t>(n), 0), n);
  char buffer[64];
  EXPECT_EQ(pair.server.Read(buffer, sizeof(buffer)), -1);
  EXPECT_EQ(errno, EBADMSG);
}

TEST(TlsStream, TruncatedRecordIsAnEnd) {
  TlsPair pair;
  const std::string head = std::string("\x17\x03\x03\x00\x40", 5) + "part";
  ASSERT_EQ(pair.client.Write("whole", 5), 5);
  ASSERT_EQ(send(pair.client_fd(), head.data(), head.size(), 0), 9);
  pair.CloseClient();
  char buffer[64];
  EXPECT_EQ(pair.server.Read(buffer, sizeof(buffer)), 5);
  EXPECT_EQ(pair.server.Read(buffer, sizeof(buffer)), 0);
  EXPECT_EQ(pair.server.Read(buffer, sizeof(buffer)), 0);
}

TEST(TlsStream, WritingToAClosedPeerFailsWithoutASignal) {
  ASSERT_NE(std::signal(SIGPIPE, SIG_DFL), SIG_ERR);
  TlsPair pair;
  pair.CloseClient();
  EXPECT_EQ(pair.server.Write("x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  EXPECT_EQ(pair.server.Write("x", 1), -1);
}

TEST(TlsStream, ContextIsSharedByManyStreamsAndThreads) {
  const TlsContext context = Context();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&context] {
      for (int k = 0; k < 5; ++k) {
        const auto [client, server] = Handshake(context, context);
        EXPECT_TRUE(client.ok()) << client;
        EXPECT_TRUE(server.ok()) << server;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace muster
