#include "trainer_sdk/store/tcp_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/little_endian.h"
#include "base/monotonic_clock.h"
#include "store/wire/request.h"
#include "trainer_sdk/store/testing/scripted_server.h"

namespace muster {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr Duration kLong = std::chrono::seconds(30);
constexpr Duration kShort = std::chrono::milliseconds(30);

const std::string kStopWaiting(1, store::kStoreStopWaiting);
const std::string kCanceled(1, store::kStoreWaitCanceled);
const std::string kReady(1, store::kStoreReady);
const std::string kNotReady(1, store::kStoreNotReady);

Instant In(Duration duration) { return MonotonicNow() + duration; }

std::string Text(const absl::Status& status) {
  return std::string(status.message());
}

absl::StatusOr<std::unique_ptr<TcpStore>> Connect(
    int port, TcpStoreOptions options = {}) {
  options.host = "127.0.0.1";
  options.port = port;
  if (options.connect_deadline == Instant()) {
    options.connect_deadline = In(kLong);
  }
  return TcpStore::Connect(options);
}

std::string Number(int64_t number) {
  std::string bytes;
  AppendInteger(number, &bytes);
  return bytes;
}

// Encodes a request for the key "k". In the protocol, this key is "/k".
std::string AboutK(store::StoreCommand command) {
  std::string bytes(1, static_cast<char>(command));
  if (command == store::StoreCommand::kCheck ||
      command == store::StoreCommand::kWait) {
    AppendInteger<uint64_t>(1, &bytes);
  }
  AppendString("/k", &bytes);
  return bytes;
}

TEST(TcpStore, GreetsAsPyTorchDoes) {
  std::promise<std::string> greeting;
  ScriptedServer server([&](ScriptedPeer& peer, int) {
    const std::string bytes = peer.Receive(10);
    peer.Send(bytes.substr(6));
    greeting.set_value(bytes);
    peer.AwaitClose();
  });
  EXPECT_TRUE(Connect(server.port()).ok());
  const std::string bytes = greeting.get_future().get();
  EXPECT_EQ(bytes.substr(0, 6), std::string("\0\xCE\xF7\x85\x3C\x0D", 6));
}

TEST(TcpStore, TriesAgainWhileTheServerIsNotReady) {
  // The server closes the first two connections at once. The client must try
  // again: on the third connection the server answers like a store.
  ScriptedServer server([](ScriptedPeer& peer, int connection) {
    if (connection < 2) return;
    peer.Greet();
    peer.AwaitClose();
  });
  absl::Status connected = Connect(server.port()).status();
  EXPECT_TRUE(connected.ok()) << connected;
}

TEST(TcpStore, SaysWhatItMetWhereNobodyListens) {
  int port;
  {
    ScriptedServer gone([](ScriptedPeer&, int) {});
    port = gone.port();
  }
  absl::Status late = Connect(port, {.connect_deadline = In(kShort)}).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  EXPECT_THAT(Text(late), AllOf(HasSubstr("127.0.0.1:" + std::to_string(port)),
                                HasSubstr("Connection refused")));
}

TEST(TcpStore, AHostThatIsUnknownIsNamed) {
  absl::Status late = TcpStore::Connect({.host = "no.such.host.invalid",
                                         .port = 1,
                                         .connect_deadline = MonotonicNow()})
                          .status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  EXPECT_THAT(Text(late), HasSubstr("the name no.such.host.invalid"));
}

TEST(TcpStore, OtherServerIsRefusedBeforeTheDeadline) {
  ScriptedServer closes([](ScriptedPeer& peer, int) { peer.Receive(10); });
  absl::Status refused = Connect(closes.port()).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(Text(refused),
              HasSubstr("closed the connection at the greeting"));

  ScriptedServer chatters([](ScriptedPeer& peer, int) {
    peer.Send("SSH-2.0-OpenSSH_9.2\r\n");
    peer.Receive(10);
  });
  refused = Connect(chatters.port()).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
}

TEST(TcpStore, AStoreThatDoesNotGreetIsWaitedForUntilTheDeadline) {
  ScriptedServer silent([](ScriptedPeer& peer, int) {
    peer.Receive(10);
    peer.AwaitClose();
  });
  absl::Status late =
      Connect(silent.port(), {.connect_deadline = In(kShort)}).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  EXPECT_THAT(Text(late), HasSubstr("does not answer"));
}

TEST(TcpStore, RepliesMayComeInPieces) {
  ScriptedServer server([](ScriptedPeer& peer, int) {
    peer.Greet();
    peer.Receive(AboutK(store::StoreCommand::kAdd).size() + 8);
    for (char byte : Number(-300)) peer.Send(std::string(1, byte));
    peer.Receive(AboutK(store::StoreCommand::kCheck).size());
    peer.Send(kReady);
    peer.Receive(AboutK(store::StoreCommand::kGet).size());
    std::string value;
    AppendString("abc", &value);
    for (char byte : value) peer.Send(std::string(1, byte));
  });
  auto store = Connect(server.port()).value();
  EXPECT_EQ(store->Add("k", -300).value(), -300);
  EXPECT_EQ(store->Get("k", In(kLong)).value(), "abc");
}

TEST(TcpStore, AnAnswerThatDoesNotComeBreaksTheStoreForGood) {
  ScriptedServer server([](ScriptedPeer& peer, int) {
    peer.Greet();
    peer.Receive(AboutK(store::StoreCommand::kAdd).size() + 8);
    // The server delays its reply to the Add until the client gives up:
    // Receive(1) returns when the client sends another request or closes the
    // connection.
    peer.Receive(1);
    peer.Send(Number(1));
    peer.AwaitClose();
  });
  auto store = Connect(server.port(), {.operation_timeout = kShort}).value();
  absl::Status broken = store->Add("k", 1).status();
  EXPECT_TRUE(absl::IsUnavailable(broken)) << broken;
  EXPECT_THAT(Text(broken), HasSubstr("has not answered in time"));
  // After the timeout of the Add, the client must not use the connection any
  // more. Otherwise the late reply to the Add would be taken for the reply to
  // this Delete.
  EXPECT_EQ(store->Delete("k").status(), broken);
}

TEST(TcpStore, ALateAnswerCostsOnlyTheOneWhoAsked) {
  std::promise<void> given_up;
  ScriptedServer server([&](ScriptedPeer& peer, int) {
    peer.Greet();
    peer.Receive(AboutK(store::StoreCommand::kCheck).size());
    given_up.get_future().wait();
    peer.Send(kReady);
    // The server has now sent its late reply to the Get, and next it answers
    // the Add. The client must not take the reply to the Get for the reply to
    // the Add.
    peer.Receive(AboutK(store::StoreCommand::kAdd).size() + 8);
    peer.Send(Number(7));
    peer.AwaitClose();
  });
  auto store = Connect(server.port()).value();
  const absl::Status late = store->Get("k", In(kShort)).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  given_up.set_value();
  EXPECT_EQ(store->Add("k", 7).value(), 7);
}

TEST(TcpStore, QueuedCallKeepsItsDeadline) {
  std::promise<void> asked, given_up;
  ScriptedServer server([&](ScriptedPeer& peer, int) {
    peer.Greet();
    peer.Receive(AboutK(store::StoreCommand::kAdd).size() + 8);
    asked.set_value();
    given_up.get_future().wait();
    peer.Send(Number(7));
    peer.AwaitClose();
  });
  auto store = Connect(server.port()).value();
  std::thread other([&] { EXPECT_EQ(store->Add("k", 7).value(), 7); });
  asked.get_future().wait();
  const absl::Status late = store->Wait({"k"}, In(kShort));
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  given_up.set_value();
  other.join();
}

TEST(TcpStore, AStoreThatGoesIsNamed) {
  ScriptedServer server([](ScriptedPeer& peer, int) { peer.Greet(); });
  auto store = Connect(server.port()).value();
  absl::Status gone = store->Add("k", 1).status();
  EXPECT_TRUE(absl::IsUnavailable(gone)) << gone;
  EXPECT_THAT(Text(gone), HasSubstr("the store at 127.0.0.1:" +
                                    std::to_string(server.port()) + " closed"));
}

TEST(TcpStore, AReplyBeyondAllBoundsIsRefused) {
  ScriptedServer server([](ScriptedPeer& peer, int) {
    peer.Greet();
    peer.Receive(1);
    peer.Send(kReady + Number(int64_t{1} << 60));
    peer.Receive(1000);
  });
  auto store = Connect(server.port()).value();
  absl::Status refused = store->Get("k", In(kLong)).status();
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
}

TEST(TcpStore, NoAnswerWhateverHarmsTheClient) {
  constexpr int kSeeds = 60;
  ScriptedServer server([](ScriptedPeer& peer, int seed) {
    peer.Greet();
    std::minstd_rand random(seed + 1);
    // The replies are random bytes. On every second connection all bytes are
    // below 4, so that some of the lengths in the replies are small.
    const int most = seed % 2 == 0 ? 4 : 256;
    std::string nonsense(random() % 200, '\0');
    for (char& byte : nonsense) byte = static_cast<char>(random() % most);
    peer.Send(nonsense);
  });
  for (int seed = 0; seed < kSeeds; ++seed) {
    auto store = Connect(server.port());
    if (!store.ok()) continue;
    // Each call must return, with any result, because the server closes the
    // connection after the random bytes.
    for (int times = 0; times < 20; ++times) {
      (*store)->Get("k", MonotonicNow()).status().IgnoreError();
      (*store)->Add("k", 1).status().IgnoreError();
      (*store)->CompareSet("k", "a", "b").status().IgnoreError();
    }
    EXPECT_TRUE(absl::IsUnavailable((*store)->Delete("k").status()));
  }
}

TEST(TcpStore, OversizedRequestIsNotSent) {
  ScriptedServer server([](ScriptedPeer& peer, int) {
    peer.Greet();
    peer.Receive(AboutK(store::StoreCommand::kAdd).size() + 8);
    peer.Send(Number(1));
    peer.AwaitClose();
  });
  auto store = Connect(server.port()).value();
  // The key is one byte too long, because the protocol adds a "/" to it.
  const std::string long_key(store::kMaxStoreKeyBytes, 'k');
  const std::string long_value(store::kMaxStoreValueBytes + 1, 'v');
  const std::vector<std::string> many(store::kMaxStoreKeys + 1, "k");
  const std::vector<std::string> heavy(9000, std::string(8000, 'k'));
  for (const absl::Status& refused :
       {store->Set(long_key, ""), store->Set("k", long_value),
        store->CompareSet("k", long_value, "").status(),
        store->Check(many).status(), store->Wait(heavy, In(kLong))}) {
    EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  }
  EXPECT_EQ(store->Add("k", 1).value(), 1);
}

// A client that waits for the key "k", which is absent until SetKey is called.
// Besides its main connection, the client has up to `lines` connections that it
// uses only for waiting. The simulated server runs the function `line` on each
// of these connections.
class WaitingClient {
 public:
  explicit WaitingClient(std::function<void(ScriptedPeer&)> line,
                         size_t lines = 1)
      : line_(std::move(line)),
        server_([this](ScriptedPeer& peer, int connection) {
          peer.Greet();
          if (connection == 0) {
            Answer(peer);
          } else {
            line_(peer);
          }
        }),
        store_(Connect(server_.port(), {.wait_connections = lines}).value()) {}

  TcpStore& store() { return *store_; }
  void SetKey() { there_ = true; }

 private:
  void Answer(ScriptedPeer& peer) {
    const size_t bytes = AboutK(store::StoreCommand::kCheck).size();
    while (peer.Receive(bytes).size() == bytes) {
      peer.Send(there_ ? kReady : kNotReady);
    }
  }

  std::atomic<bool> there_ = false;
  const std::function<void(ScriptedPeer&)> line_;
  ScriptedServer server_;
  std::unique_ptr<TcpStore> store_;
};

// The server's end of a connection on which the client waits. Receives a WAIT
// request and, if the client's deadline passes during the wait, the CANCEL_WAIT
// that follows.
class WaitLine {
 public:
  explicit WaitLine(ScriptedPeer& peer) : peer_(peer) {}

  // Receives a WAIT request; returns false if the client has closed the
  // connection.
  bool ReceiveWait() {
    const std::string wait = AboutK(store::StoreCommand::kWait);
    const std::string bytes = peer_.Receive(wait.size());
    EXPECT_TRUE(bytes.empty() || bytes == wait);
    return bytes == wait;
  }
  bool ReceiveWaitAndCancel() {
    return ReceiveWait() &&
           peer_.Receive(1) ==
               std::string(1,
                           static_cast<char>(store::StoreCommand::kCancelWait));
  }

 private:
  ScriptedPeer& peer_;
};

// Calls Wait for the key "k" with a short deadline, and repeats the call until
// `seen` has increased. The server increases `seen` when it has received a WAIT
// request and its cancellation. Returns the result of the last call.
absl::Status WaitBriefly(TcpStore& store, const std::atomic<int>& seen) {
  const int before = seen;
  absl::Status waited;
  do {
    waited = store.Wait({"k"}, In(kShort));
  } while (seen == before);
  return waited;
}

TEST(TcpStoreWait, IsTakenBackAtTheDeadline) {
  std::atomic<int> seen = 0;
  WaitingClient client([&seen](ScriptedPeer& peer) {
    WaitLine line(peer);
    if (!line.ReceiveWaitAndCancel()) return;
    ++seen;
    peer.Send(kCanceled);
    // After a confirmed cancellation, the client must use the same connection
    // for its next wait.
    EXPECT_TRUE(line.ReceiveWait());
    peer.Send(kStopWaiting);
    peer.AwaitClose();
  });
  absl::Status late = WaitBriefly(client.store(), seen);
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  EXPECT_THAT(Text(late), HasSubstr("key 'k'"));
  EXPECT_TRUE(client.store().Wait({"k"}, In(kLong)).ok());
}

TEST(TcpStoreWait, AnAnswerThatCrossesTheCancelCounts) {
  std::atomic<int> seen = 0;
  WaitingClient client([&seen](ScriptedPeer& peer) {
    WaitLine line(peer);
    if (!line.ReceiveWaitAndCancel()) return;
    ++seen;
    peer.Send(kStopWaiting + kCanceled);
    // The client must have read both replies above: the reply to its first WAIT
    // and the reply to the CANCEL_WAIT. Otherwise the client would take an
    // unread reply for the reply to this second WAIT, and would not cancel this
    // WAIT.
    EXPECT_TRUE(line.ReceiveWaitAndCancel());
    ++seen;
    peer.Send(kCanceled);
    peer.AwaitClose();
  });
  EXPECT_TRUE(WaitBriefly(client.store(), seen).ok());
  absl::Status late = WaitBriefly(client.store(), seen);
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
}

TEST(TcpStoreWait, AKeyThatComesAtTheDeadlineIsNotCalledAbsent) {
  std::atomic<int> seen = 0;
  WaitingClient* waiting = nullptr;
  WaitingClient client([&](ScriptedPeer& peer) {
    if (!WaitLine(peer).ReceiveWaitAndCancel()) return;
    waiting->SetKey();
    ++seen;
    peer.Send(kCanceled);
    peer.AwaitClose();
  });
  waiting = &client;
  EXPECT_TRUE(WaitBriefly(client.store(), seen).ok());
}

TEST(TcpStoreWait, ALineThatBreaksIsNotUsedAgain) {
  std::atomic<int> lines = 0;
  WaitingClient client([&](ScriptedPeer& peer) {
    EXPECT_TRUE(WaitLine(peer).ReceiveWait());
    peer.Send(++lines == 1 ? "?" : kStopWaiting);
  });
  absl::Status broken = client.store().Wait({"k"}, In(kLong));
  EXPECT_TRUE(absl::IsUnavailable(broken)) << broken;
  EXPECT_TRUE(client.store().Wait({"k"}, In(kLong)).ok());
}

// The client cancels its first wait at the deadline, but the store does not
// confirm the cancellation in time. The client must report a timeout, not a
// lost store. A later wait must succeed.
TEST(TcpStoreWait, AStoreThatIsSlowToCancelIsLateAndNotGone) {
  std::atomic<int> seen = 0;
  WaitingClient client([&seen](ScriptedPeer& peer) {
    WaitLine line(peer);
    if (seen == 0) {
      if (line.ReceiveWaitAndCancel()) ++seen;
    } else {
      // The client must send its next WAIT on a new connection. On the old
      // connection, the late reply to the first WAIT would be taken for the
      // reply to this WAIT.
      EXPECT_TRUE(line.ReceiveWait());
      peer.Send(kStopWaiting);
    }
    peer.AwaitClose();
  });
  absl::Status late = WaitBriefly(client.store(), seen);
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  EXPECT_THAT(Text(late), AllOf(HasSubstr("the store at 127.0.0.1:"),
                                HasSubstr("has not answered in time")));
  EXPECT_TRUE(client.store().Wait({"k"}, In(kLong)).ok());
}

TEST(TcpStoreWait, WithoutAConnectionTheKeyIsPolled) {
  ScriptedServer full([](ScriptedPeer& peer, int connection) {
    if (connection > 0) return;
    peer.Greet();
    for (const std::string& answer : {kNotReady, kNotReady, kReady}) {
      peer.Receive(AboutK(store::StoreCommand::kCheck).size());
      peer.Send(answer);
    }
    peer.AwaitClose();
  });
  auto store = Connect(full.port()).value();
  EXPECT_TRUE(store->Wait({"k"}, In(kLong)).ok());
}

TEST(TcpStoreWait, MoreThreadsThanLinesAreServedAllTheSame) {
  std::promise<void> taken, release;
  WaitingClient client([&](ScriptedPeer& peer) {
    peer.Receive(AboutK(store::StoreCommand::kWait).size());
    taken.set_value();
    release.get_future().wait();
    peer.Send(kStopWaiting);
    peer.AwaitClose();
  });
  std::thread first(
      [&client] { EXPECT_TRUE(client.store().Wait({"k"}, In(kLong)).ok()); });
  taken.get_future().wait();
  // The thread `first` uses the only connection for waiting. So this call must
  // poll, and must end at its deadline.
  EXPECT_FALSE(client.store().Wait({"k"}, In(kShort)).ok());
  std::thread second(
      [&client] { EXPECT_TRUE(client.store().Wait({"k"}, In(kLong)).ok()); });
  client.SetKey();
  second.join();
  release.set_value();
  first.join();
}

}  // namespace
}  // namespace muster
