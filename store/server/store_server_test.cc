#include "store/server/store_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/little_endian.h"
#include "base/monotonic_clock.h"
#include "base/net/socket_address.h"
#include "base/owned_fd.h"
#include "base/testing/free_port.h"
#include "base/time.h"
#include "store/server/listening_socket.h"
#include "store/testing/raw_client.h"
#include "store/wire/relay_frames.h"
#include "store/wire/request.h"

namespace muster::store {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using C = StoreCommand;

// Collects the messages for the user, which the server's thread sends through a
// callback.
class Notices {
 public:
  std::function<void(const std::string&)> Sink() {
    return [this](const std::string& sentence) {
      const std::lock_guard<std::mutex> lock(mutex_);
      all_.push_back(sentence);
    };
  }
  std::vector<std::string> All() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return all_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> all_;
};

class StoreServerTest : public testing::Test {
 protected:
  void Start(StoreServerOptions options = {}) {
    options.on_notice = notices_.Sink();
    auto server = StoreServer::Start(std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  int port() const { return server_->port(); }

  Notices notices_;
  std::unique_ptr<StoreServer> server_;
};

TEST_F(StoreServerTest, NamesAClientByItsOwnAddress) {
  Start();  // The server listens on a socket for both IPv4 and IPv6.
  RawClient bad(port());
  bad.Send("\xff");
  EXPECT_TRUE(bad.Ended());
  EXPECT_THAT(notices_.All(), ElementsAre(HasSubstr("with 127.0.0.1 port ")));
}

TEST_F(StoreServerTest, ServesSeveralClients) {
  Start();
  RawClient a(port());
  RawClient b(port());
  a.Set("k", "v");
  EXPECT_EQ(a.Get("k"), "v");
  EXPECT_EQ(b.Get("k"), "v");
  EXPECT_EQ(a.Add("n", 2), 2);
  EXPECT_EQ(b.Add("n", 3), 5);
}

TEST_F(StoreServerTest, TellsItsLoadAndAfterItsEndTheRequestsAlone) {
  Start();
  EXPECT_EQ(server_->load().requests, 0);
  RawClient a(port());
  RawClient b(port());
  a.Set("k", "v");
  EXPECT_EQ(a.Add("n", 2), 2);
  b.StartWait("later");
  EXPECT_EQ(b.Add("n", 0), 2);
  // The server has handled the requests above in earlier turns of its loop than
  // this one, so that it has published the connections.
  EXPECT_EQ(a.Get("k"), "v");
  const StoreLoad load = server_->load();
  EXPECT_EQ(load.connections, 2);
  EXPECT_EQ(load.keys, 2);
  EXPECT_EQ(load.waiting, 1);
  EXPECT_GT(load.bytes, 0);
  a.Set("k2", "v");
  EXPECT_EQ(a.Get("k2"), "v");
  EXPECT_EQ(server_->load().requests, load.requests + 2);
  EXPECT_GT(server_->load().bytes, load.bytes);
  b.Close();
  // The end of the connection has no reply to wait for.
  const Instant deadline = MonotonicNow() + std::chrono::seconds(30);
  while (server_->load().waiting > 0 && MonotonicNow() < deadline) a.Get("k");
  EXPECT_EQ(server_->load().waiting, 0);
  const int64_t requests = server_->load().requests;
  server_->Close("");
  const StoreLoad end = server_->load();
  EXPECT_EQ(end.requests, requests);
  EXPECT_EQ(end.keys + end.bytes + end.waiting + end.connections, 0);
}

TEST_F(StoreServerTest, SetReleasesAWaitingClient) {
  Start();
  RawClient a(port());
  RawClient b(port());
  a.StartWait("k");
  // While WAIT is pending, other requests of the client are answered at once.
  EXPECT_EQ(a.Add("n", 1), 1);
  EXPECT_FALSE(a.HasInput());
  b.Set("k", "v");
  EXPECT_TRUE(a.Released());
}

// 330 clients wait for a key, and 30 of them disconnect. A SET of the key must
// then release the other 300 clients: each gets its reply. The replies are so
// many that the server's helper threads send some of them.
TEST_F(StoreServerTest, ReleasesManyAtOnce) {
  Start();
  ManyClients waiters(port(), 300);
  auto leavers = std::make_unique<ManyClients>(port(), 30);
  const StoreRequest wait = {.command = C::kWait, .keys = {"k"}};
  waiters.SendByAll(wait);
  leavers->SendByAll(wait);
  waiters.SendByAll({.command = C::kAdd, .key = "n", .number = 0});
  EXPECT_EQ(waiters.CountReceivers(std::string(8, '\0')), 300);
  leavers.reset();
  RawClient setter(port());
  setter.Set("k", "v");
  EXPECT_EQ(waiters.CountReceivers(std::string(1, '\0')), 300);
  // A value so large that no socket accepts a whole reply with it at once.
  const std::string value(kMaxStoreValueBytes / 4, 'v');
  setter.Set("large", value);
  EXPECT_EQ(setter.Add("n", 1), 1);
  const StoreRequest both = {.command = C::kMultiGet, .keys = {"k", "large"}};
  waiters.SendByAll(both);
  std::string reply;
  AppendInteger(uint64_t{1}, &reply);
  reply += "v";
  AppendInteger(uint64_t{value.size()}, &reply);
  reply += value;
  EXPECT_EQ(waiters.CountReceivers(reply), 300);
}

TEST_F(StoreServerTest, ServesTheOldFraming) {
  Start();
  RawClient old(port(), RawClient::Greeting::kNone);
  const std::string key("\2\0\0\0\0\0\0\0/a", 10);
  const std::string value("\1\0\0\0\0\0\0\0001", 9);
  const std::string one_key("\1\0\0\0\0\0\0\0", 8);
  old.Send(std::string(1, '\0') + key + value);
  // PyTorch's old client often sends the command's byte in a packet of its own.
  old.Send("\5");
  old.Send(one_key + key);
  EXPECT_TRUE(old.Released());
  old.Send("\2");
  old.Send(key);
  EXPECT_EQ(old.Receive(9), value);
  RawClient modern(port());
  EXPECT_EQ(modern.Get("/a"), "1");
}

TEST_F(StoreServerTest, AnOldClientThatAsksHasGivenItsWaitUp) {
  Start();
  RawClient old(port(), RawClient::Greeting::kNone);
  const std::string one_key("\1\0\0\0\0\0\0\0", 8);
  const std::string key("\2\0\0\0\0\0\0\0/k", 10);
  old.Send("\5" + one_key + key);
  old.Send("\6");  // GETNUMKEYS shows that the client has given up its WAIT
  EXPECT_EQ(old.Receive(8), std::string(8, '\0'));
  RawClient modern(port());
  modern.Set("/k", "v");
  EXPECT_EQ(modern.Get("/k"), "v");
  // The second GETNUMKEYS: its reply must be the next one that arrives. The
  // store must not have replied to the WAIT that the client gave up.
  old.Send("\6");
  EXPECT_EQ(old.Receive(8), std::string("\1\0\0\0\0\0\0\0", 8));
}

TEST_F(StoreServerTest, LargeValuesGoBothWays) {
  Start();
  RawClient client(port());
  const std::string value(kMaxStoreValueBytes, 'v');
  client.Set("k", value);
  EXPECT_TRUE(client.Get("k") == value);
}

TEST_F(StoreServerTest, AnswersManyRequestsSentAtOnceInOrder) {
  Start();
  RawClient client(port());
  std::string bytes;
  for (int i = 0; i < 20'000; ++i) {
    AppendRequest({.command = C::kAdd, .key = "n", .number = 1}, &bytes);
  }
  client.Send(bytes);
  for (int i = 1; i <= 20'000; ++i) {
    ASSERT_EQ(client.Reply({.command = C::kAdd}).number, i);
  }
}

TEST_F(StoreServerTest, EndsOnlyTheClientThatBreaksARule) {
  Start();
  RawClient good(port());
  good.StartWait("k");
  RawClient bad(port());
  bad.Send("0");
  EXPECT_TRUE(bad.Ended());
  RawClient large(port());
  large.Set(std::string(kMaxStoreKeyBytes + 1, 'k'), "");
  EXPECT_TRUE(large.Ended());
  RawClient(port()).Set("k", "v");
  EXPECT_TRUE(good.Released());
  EXPECT_THAT(notices_.All(),
              ElementsAre(HasSubstr("command 48 is none of the store's"),
                          HasSubstr("SET with a key of 8193 bytes")));
}

TEST_F(StoreServerTest, ASetCountsThoughItsClientIsGoneAtOnce) {
  Start();
  RawClient waiter(port());
  waiter.StartWait("last words");
  RawClient client(port());
  client.Set("last words", "v");
  client.Close();
  EXPECT_TRUE(waiter.Released());
}

TEST_F(StoreServerTest, HalfARequestDelaysNoOtherClient) {
  Start();
  RawClient slow(port());
  std::string bytes;
  AppendRequest({.command = C::kSet, .key = "slow", .value = "come at last"},
                &bytes);
  RawClient other(port());
  for (size_t i = 0; i < bytes.size(); ++i) {
    slow.Send(bytes.substr(i, 1));
    EXPECT_EQ(other.Add("n", 1), static_cast<int64_t>(i) + 1);
  }
  EXPECT_EQ(slow.Get("slow"), "come at last");
}

TEST_F(StoreServerTest, ClosingReleasesAllWaitingClients) {
  StoreServerOptions options;
  options.port = FreePort();
  Start(std::move(options));
  RawClient waiter(port());
  waiter.StartWait("k");
  RawClient at_barrier(port());
  at_barrier.Send({.command = C::kBarrier, .key = "b", .number = 2});
  RawClient idle(port(), RawClient::Greeting::kNone);
  // The replies to the ADD requests show that the server has read the WAIT and
  // the BARRIER, which were sent before them.
  EXPECT_EQ(waiter.Add("n", 1), 1);
  EXPECT_EQ(at_barrier.Add("n", 1), 2);
  const int freed = port();
  server_->Close("round 3 is broken");
  EXPECT_TRUE(waiter.Ended());
  EXPECT_TRUE(at_barrier.Ended());
  EXPECT_TRUE(idle.Ended());
  EXPECT_THAT(notices_.All(), ElementsAre("the store is closed while 2 clients "
                                          "wait: round 3 is broken"));
  EXPECT_TRUE(ListenOn("", freed).ok());
  server_->Close("again");
}

// The server is closed without a reason, as after a successful round. It must
// then report no waiting clients, because their workers may have exited
// already.
TEST_F(StoreServerTest, AnEndWithoutAReasonIsNoNews) {
  Start();
  RawClient waiter(port());
  waiter.StartWait("k");
  EXPECT_EQ(waiter.Add("n", 1), 1);
  server_.reset();
  EXPECT_TRUE(waiter.Ended());
  EXPECT_THAT(notices_.All(), testing::IsEmpty());
}

// A client sends requests but reads no replies. The server soon stops reading
// from it. Once the client reads, it gets all replies.
TEST_F(StoreServerTest, AClientThatDoesNotReadIsNotReadFrom) {
  Start();
  RawClient greedy(port());
  greedy.Set("k", std::string(size_t{1} << 20, 'v'));
  std::string request;
  AppendRequest({.command = C::kGet, .key = "k"}, &request);
  RawClient other(port());
  int asked = 0;
  // Each reply has 1 MiB. If the server did not stop reading requests, it would
  // buffer a gigabyte of replies.
  for (; asked < 1000; ++asked) {
    if (greedy.SendWhatFits(request) != request.size()) break;
    ASSERT_EQ(other.Add("n", 1), asked + 1);
  }
  for (int i = 0; i < asked; ++i) {
    ASSERT_EQ(greedy.Reply({.command = C::kGet}).strings.at(0).size(),
              size_t{1} << 20);
  }
  EXPECT_THAT(notices_.All(), IsEmpty());
}

TEST_F(StoreServerTest, FullBuffersCloseTheLargestConnection) {
  StoreServerOptions options;
  options.max_buffer_bytes = size_t{4} << 20;
  Start(std::move(options));
  RawClient modest(port());
  modest.Send("\1");  // the first byte of a SET
  std::string half;
  AppendRequest({.command = C::kSet,
                 .key = "k",
                 .value = std::string(kMaxStoreValueBytes, 'v')},
                &half);
  RawClient hog(port());
  hog.Send(half.substr(0, half.size() - 1));
  EXPECT_TRUE(hog.Ended());
  EXPECT_THAT(notices_.All(),
              ElementsAre(HasSubstr("all connections together hold")));
  std::string rest;
  AppendRequest({.command = C::kSet, .key = "modest", .value = "v"}, &rest);
  modest.Send(rest.substr(1));
  EXPECT_EQ(modest.Get("modest"), "v");
}

TEST_F(StoreServerTest, AFullStoreClosesTheClientThatAddsMore) {
  StoreServerOptions options;
  options.max_store_bytes = 10'000;
  Start(std::move(options));
  RawClient client(port());
  client.Set("small", "v");
  RawClient large(port());
  large.Set("large", std::string(10'000, 'v'));
  EXPECT_TRUE(large.Ended());
  EXPECT_EQ(client.Get("small"), "v");
  EXPECT_THAT(notices_.All(), ElementsAre(HasSubstr("the store is full: SET")));
}

// Connects from the address `own`, and returns the server's answer to a SET, a
// LIST_KEYS and a PING.
std::string AnswerFrom(const std::string& own, int port) {
  const OwnedFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress from = *NumericAddress(own, 0);
  const SocketAddress to = *NumericAddress("127.0.0.1", port);
  if (bind(fd.get(), from.get(), from.size) != 0 ||
      connect(fd.get(), to.get(), to.size) != 0) {
    return "no connection";
  }
  std::string bytes;
  AppendRequest({.command = C::kValidate, .number = kStoreMagic}, &bytes);
  AppendRequest({.command = C::kSet, .key = "by", .value = own}, &bytes);
  AppendRequest({.command = C::kListKeys}, &bytes);
  // Ignore an error of send: the server may have closed the connection already.
  (void)send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  shutdown(fd.get(), SHUT_WR);
  std::string answer;
  char buffer[256];
  pollfd waiting = {.fd = fd.get(), .events = POLLIN, .revents = 0};
  while (poll(&waiting, 1, 30'000) == 1) {
    const ssize_t count = recv(fd.get(), buffer, sizeof(buffer), 0);
    if (count <= 0) return answer;
    answer.append(buffer, static_cast<size_t>(count));
  }
  return "no end";
}

TEST_F(StoreServerTest, OnlyItsClientsAddressesAreServed) {
  StoreServerOptions options;
  ASSERT_TRUE(options.clients.Add("127.0.0.3").ok());
  Start(std::move(options));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(AnswerFrom("127.0.0.2", port()), "");
  RawClient client(port());
  EXPECT_EQ(client.Ask({.command = C::kListKeys}).strings.size(), 0u);
  EXPECT_THAT(AnswerFrom("127.0.0.3", port()), HasSubstr("by"));
  EXPECT_EQ(client.Get("by"), "127.0.0.3");
  server_->Close("");
  EXPECT_THAT(notices_.All(),
              ElementsAre(HasSubstr("refused a connection from 127.0.0.2: no "
                                    "node of this round has this address"),
                          HasSubstr("refused 3 connections from addresses "
                                    "outside of the job")));
}

// The resident memory of this process in bytes.
size_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0;
  size_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// Sets keys until their values have `bytes` bytes together. Each value has 200
// KiB, a size for which the allocator uses its heap.
int FillStore(RawClient& client, size_t bytes) {
  const std::string value(size_t{200} << 10, 'v');
  int keys = 0;
  for (size_t set = 0; set < bytes; set += value.size()) {
    client.Set("k" + std::to_string(keys++), value);
  }
  EXPECT_EQ(client.Add("n", 1), 1);
  return keys;
}

TEST_F(StoreServerTest, MemoryOfDeletedKeysIsReturned) {
  Start();
  RawClient client(port());
  constexpr size_t kKeys = size_t{256} << 20;
  const size_t before = ResidentBytes();
  const int keys = FillStore(client, kKeys);
  EXPECT_GT(ResidentBytes(), before + kKeys / 2);
  for (int i = 0; i < keys; ++i) {
    client.Ask({.command = C::kDelete, .key = "k" + std::to_string(i)});
  }
  EXPECT_EQ(client.Add("n", 1), 2);
  EXPECT_LT(ResidentBytes(), before + kKeys / 4);
}

TEST_F(StoreServerTest, MemoryOfAClosedStoreIsReturned) {
  Start();
  RawClient client(port());
  constexpr size_t kKeys = size_t{256} << 20;
  const size_t before = ResidentBytes();
  FillStore(client, kKeys);
  EXPECT_GT(ResidentBytes(), before + kKeys / 2);
  server_->Close("round 1 is broken");
  EXPECT_LT(ResidentBytes(), before + kKeys / 4);
}

TEST_F(StoreServerTest, TakesASocketThatListensAlready) {
  auto listener = ListenOn("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok()) << listener.status();
  const int port = *LocalPort(*listener);
  StoreServerOptions options;
  options.listener = *std::move(listener);
  Start(std::move(options));
  EXPECT_EQ(server_->port(), port);
  EXPECT_EQ(RawClient(port).Add("n", 1), 1);
}

TEST_F(StoreServerTest, SaysWhyItCannotStart) {
  Start();
  StoreServerOptions taken;
  taken.port = port();
  EXPECT_EQ(StoreServer::Start(std::move(taken)).status().code(),
            absl::StatusCode::kAlreadyExists);
  StoreServerOptions name;
  name.address = "not numeric";
  EXPECT_EQ(StoreServer::Start(std::move(name)).status().code(),
            absl::StatusCode::kInvalidArgument);
  StoreServerOptions deaf;
  deaf.listener = OwnedFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(StoreServer::Start(std::move(deaf)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// A relay's connection, which carries several clients, one per channel.
class Frames {
 public:
  explicit Frames(int port) : client_(port) {
    client_.Send({.command = C::kRelay, .number = kRelayVersion});
    EXPECT_EQ(client_.Reply({.command = C::kRelay}).number, kRelayVersion);
  }
  static std::string Frame(uint32_t channel, const StoreRequest& request) {
    std::string message;
    AppendRequest(request, &message);
    std::string frame;
    AppendRelayFrame({.channel = channel, .bytes = message}, &frame);
    return frame;
  }
  static std::string GoneFrame(uint32_t channel) {
    std::string frame;
    AppendRelayFrame({.channel = channel, .kind = RelayFrameKind::kGone},
                     &frame);
    return frame;
  }
  void Send(uint32_t channel, const StoreRequest& request) {
    client_.Send(Frame(channel, request));
  }
  void SendGone(uint32_t channel) { client_.Send(GoneFrame(channel)); }
  // Returns the next frame as "CHANNEL kind bytes".
  std::string Next() {
    const std::string header = client_.Receive(9);
    if (header.size() < 9) return "ended";
    const auto size = ReadInteger<uint32_t>(header.substr(5));
    return std::to_string(ReadInteger<uint32_t>(header)) + " " +
           std::to_string(header[4]) + " " + client_.Receive(size);
  }
  RawClient& client() { return client_; }

 private:
  RawClient client_;
};

TEST_F(StoreServerTest, EachChannelOfARelayIsAClient) {
  Start();
  Frames relay(port());
  const std::string zero(1, '\0');
  relay.Send(1, {.command = C::kWait, .keys = {"k"}});
  relay.Send(2, {.command = C::kBarrier, .key = "b", .number = 2});
  relay.Send(7, {.command = C::kAdd, .key = "n", .number = 1});
  EXPECT_EQ(relay.Next(), "7 0 " + std::string("\1\0\0\0\0\0\0\0", 8));
  RawClient other(port());
  other.Set("k", "v");
  EXPECT_EQ(relay.Next(), "1 0 " + zero);
  // Tells the server that the client of channel 2, which was at the barrier,
  // has disconnected. From now on this client must not count at the barrier.
  relay.SendGone(2);
  relay.Send(7, {.command = C::kQueueLen, .key = "q"});
  EXPECT_EQ(relay.Next(), "7 0 " + std::string(8, '\0'));
  relay.Send(2, {.command = C::kWait, .keys = {"q"}});
  other.Send({.command = C::kBarrier, .key = "b", .number = 1});
  EXPECT_TRUE(other.Released());
  EXPECT_EQ(other.Get("b"), "1");
  // The push makes the server send the relay a frame of kind 1
  // (kMessageForOne): only one of the relay's clients may have the element.
  other.Send({.command = C::kQueuePush, .key = "q", .value = "e"});
  EXPECT_EQ(relay.Next(), "2 1 " + zero);
}

TEST_F(StoreServerTest, ARuleBrokenOnAChannelEndsTheChannel) {
  Start();
  Frames relay(port());
  relay.Send(3, {.command = C::kSet, .key = "n", .value = "text"});
  relay.Send(3, {.command = C::kAdd, .key = "n", .number = 1});
  EXPECT_THAT(relay.Next(), HasSubstr("3 2 ADD to what is no decimal number"));
  relay.Send(3, {.command = C::kNumKeys});
  EXPECT_EQ(relay.Next(), "3 0 " + std::string("\1\0\0\0\0\0\0\0", 8));
}

TEST_F(StoreServerTest, AFrameThatIsNotOneRequestEndsTheRelay) {
  Start();
  for (const std::string message : {"", "\7\7", "\3"}) {
    Frames relay(port());
    std::string frame;
    AppendRelayFrame({.channel = 1, .bytes = message}, &frame);
    relay.client().Send(frame);
    EXPECT_TRUE(relay.client().Ended());
  }
}

TEST_F(StoreServerTest, AClosedChannelIsGoneForTheNextFrame) {
  Start();
  Frames relay(port());
  const StoreRequest barrier = {
      .command = C::kBarrier, .key = "b", .number = 2};
  relay.client().Send(
      Frames::Frame(1, barrier) + Frames::GoneFrame(1) +
      Frames::Frame(2, barrier) +
      Frames::Frame(3, {.command = C::kAdd, .key = "n", .number = 1}));
  EXPECT_EQ(relay.Next(), "3 0 " + std::string("\1\0\0\0\0\0\0\0", 8));
}

TEST_F(StoreServerTest, AllClientsOfALostRelayAreGone) {
  Start();
  RawClient other(port());
  {
    Frames relay(port());
    relay.Send(1, {.command = C::kWait, .keys = {"q"}});
    relay.Send(2, {.command = C::kNumKeys});
    relay.Next();
    other.StartWait("q");
    EXPECT_EQ(other.Add("n", 1), 1);
    other.Send({.command = C::kQueuePush, .key = "q", .value = "e"});
    // The relay receives the reply to its WAIT: the element "e" is now reserved
    // for the relay's client. The relay then disconnects without a pop. So the
    // store must offer the element to `other`.
    relay.Next();
  }
  EXPECT_TRUE(other.Released());
}

TEST_F(StoreServerTest, AReservationOfAnElementExpires) {
  Start({.offer_timeout = std::chrono::milliseconds(1)});
  RawClient looking(port());
  RawClient popping(port());
  looking.Send({.command = C::kQueuePush, .key = "q", .value = "e"});
  looking.StartWait("q");
  EXPECT_TRUE(looking.Released());
  popping.StartWait("q");
  EXPECT_TRUE(popping.Released());
}

// This test must run last, because it lowers this process's limit of
// descriptors for good.
TEST_F(StoreServerTest, ZLastWithoutDescriptorsNewOnesWait) {
  rlimit limit{.rlim_cur = 100, .rlim_max = 100};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  Start();
  RawClient served(port());
  std::vector<OwnedFd> rest;
  for (int fd = dup(0); fd >= 0; fd = dup(0)) rest.emplace_back(fd);
  ASSERT_GT(rest.size(), 2);
  // Frees one descriptor, which the client's socket will take. The server then
  // has none left to accept the connection.
  rest.pop_back();
  RawClient waiting(port(), RawClient::Greeting::kNone);
  std::string ping;
  AppendRequest({.command = C::kValidate, .number = kStoreMagic}, &ping);
  AppendRequest({.command = C::kPing, .number = 5}, &ping);
  waiting.Send(ping);
  while (notices_.All().empty()) EXPECT_GT(served.Add("n", 1), 0);
  // Close the duplicates, so that the process has free descriptors again. The
  // server needs one for the new connection, and UBSan needs some for its
  // checks.
  rest.clear();
  // The client `served` sends requests all the time. They must not keep the
  // server from accepting the connection of the client `waiting`.
  const Instant deadline = MonotonicNow() + std::chrono::seconds(10);
  while (!waiting.HasInput() && MonotonicNow() < deadline) served.Add("n", 1);
  ASSERT_TRUE(waiting.HasInput());
  EXPECT_EQ(waiting.Receive(4), std::string("\5\0\0\0", 4));
  EXPECT_THAT(notices_.All(),
              ElementsAre(AllOf(HasSubstr("cannot accept"),
                                HasSubstr("wait until others end"))));
}

}  // namespace
}  // namespace muster::store
