#include "trainer_sdk/store/tcp_store.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/net/connect.h"
#include "store/client/store_channel.h"
#include "store/wire/request.h"
#include "trainer_sdk/store/store_errors.h"

namespace muster {
namespace {

// The longest time to wait until the store confirms that it has cancelled a
// wait.
constexpr Duration kCancelGrace = std::chrono::seconds(1);

// Cancels a WAIT request whose reply has not arrived.
// - OK: the store's reply to the WAIT was already under way; the keys exist.
// - DeadlineExceeded without a message: the wait is cancelled.
// - DeadlineExceeded with a message: the store did not answer in time, so it is
//   unknown whether the keys exist. The connection is closed, but the store
//   does not count as lost.
// - Any other error: the connection failed.
absl::Status Cancel(std::optional<store::StoreChannel>& line) {
  const Instant deadline = MonotonicNow() + kCancelGrace;
  std::string request;
  store::AppendRequest({.command = store::StoreCommand::kCancelWait}, &request);
  absl::Status sent = line->Send(request, deadline);
  bool answered = false;
  while (sent.ok()) {
    // Two replies of one byte each may arrive: the store may have sent the
    // reply to the WAIT before it read CANCEL_WAIT.
    absl::StatusOr<store::StoreReply> reply =
        line->Receive(store::StoreCommand::kCancelWait, 0, deadline);
    if (!reply.ok()) {
      sent = reply.status();
    } else if (reply->number == store::kStoreWaitCanceled) {
      return answered ? absl::OkStatus() : absl::DeadlineExceededError("");
    } else if (reply->number == store::kStoreStopWaiting && !answered) {
      answered = true;
    } else {
      sent = absl::UnavailableError(
          absl::StrCat("the store answered ", reply->number, " to a cancel"));
    }
  }
  // Close the connection after a time-out. Otherwise the late reply would be
  // taken for the reply to the next wait.
  if (absl::IsDeadlineExceeded(sent)) line.reset();
  return sent;
}

absl::Status WaitOn(std::optional<store::StoreChannel>& line,
                    const std::string& request, Instant deadline) {
  absl::Status sent = line->Send(request, deadline);
  // After a timeout, a part of the request may have been sent. So the
  // connection cannot be reused: return Unavailable, after which the caller
  // closes the connection.
  if (absl::IsDeadlineExceeded(sent)) {
    return absl::UnavailableError(std::string(sent.message()));
  }
  if (!sent.ok()) return sent;
  absl::StatusOr<store::StoreReply> reply =
      line->Receive(store::StoreCommand::kWait, 0, deadline);
  if (absl::IsDeadlineExceeded(reply.status())) return Cancel(line);
  if (reply.ok() && reply->number != store::kStoreStopWaiting) {
    return absl::UnavailableError(
        absl::StrCat("the store answered ", reply->number, " to a wait"));
  }
  return reply.status();
}

}  // namespace

absl::StatusOr<std::optional<store::StoreChannel>> WaitLines::Take(
    Instant timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!given_back_.wait_until(lock, ToSteady(timeout),
                              [this] { return taken_ < max_channels_; })) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "all ", max_channels_, " connections for waiting are in use"));
  }
  ++taken_;
  std::optional<store::StoreChannel> line;
  if (!free_.empty()) {
    line = std::move(free_.back());
    free_.pop_back();
  }
  return line;
}

void WaitLines::GiveBack(std::optional<store::StoreChannel> line) {
  std::lock_guard<std::mutex> lock(mutex_);
  --taken_;
  if (line) free_.push_back(*std::move(line));
  given_back_.notify_one();
}

absl::Status WaitLines::Wait(const std::string& request, Instant deadline,
                             Instant timeout) {
  absl::StatusOr<std::optional<store::StoreChannel>> taken = Take(timeout);
  if (!taken.ok()) return taken.status();
  std::optional<store::StoreChannel> line = *std::move(taken);
  if (!line) {
    // Try only once to open a further connection for this wait. If the attempt
    // fails, the caller polls over the client's main connection instead, and
    // thereby notices if the store is lost.
    absl::StatusOr<store::StoreChannel> opened =
        store::StoreChannel::Open(host_, port_, std::min(deadline, timeout));
    if (!opened.ok()) {
      GiveBack(std::nullopt);
      std::this_thread::sleep_until(ToSteady(timeout));
      return absl::ResourceExhaustedError(
          "no further connection: " + std::string(opened.status().message()));
    }
    line = *std::move(opened);
  }
  absl::Status waited = WaitOn(line, request, deadline);
  // After any error but DeadlineExceeded, the connection cannot be reused.
  if (!waited.ok() && !absl::IsDeadlineExceeded(waited)) line.reset();
  GiveBack(std::move(line));
  return waited;
}

namespace {

// The polling interval of a waiting thread for which there is no separate
// connection.
constexpr Duration kAskAgain = std::chrono::milliseconds(50);
// The minimum timeout of a request, even if the caller's deadline is nearer or
// has passed. A caller may pass a deadline in the past to Get, to test whether
// a key exists. The store must have time to answer this request, too.
constexpr Duration kLeastTimeout = std::chrono::seconds(1);
// The number of requests that are sent before their replies are read. These
// requests and replies must fit into the sockets' buffers; otherwise client and
// server would wait for each other to read.
constexpr size_t kQuestions = 256;

std::string OnWire(const std::string& key) { return "/" + key; }

std::vector<std::string> OnWire(const std::vector<std::string>& keys) {
  std::vector<std::string> whole;
  whole.reserve(keys.size());
  for (const std::string& key : keys) whole.push_back(OnWire(key));
  return whole;
}

Instant AnswerBy(Instant deadline) {
  return std::max(deadline, MonotonicNow() + kLeastTimeout);
}

std::vector<std::string_view> Views(const std::vector<std::string>& keys) {
  return std::vector<std::string_view>(keys.begin(), keys.end());
}

absl::Status TooLarge(const char* what, size_t size, size_t max_bytes) {
  return absl::ResourceExhaustedError(absl::StrCat(
      what, " of ", size, " bytes is beyond the store's ", max_bytes));
}

// Checks the size limits here, because the server would close the connection
// without an error reply.
absl::Status CheckBounds(const store::StoreRequest& request) {
  if (request.keys.size() > store::kMaxStoreKeys) {
    return absl::ResourceExhaustedError(
        absl::StrCat(request.keys.size(), " keys in one call; at most ",
                     store::kMaxStoreKeys));
  }
  size_t longest_key = request.key.size();
  size_t bytes = request.value.size() + request.expected.size();
  for (std::string_view key : request.keys) {
    longest_key = std::max(longest_key, key.size());
    bytes += key.size() + sizeof(uint64_t);
  }
  if (longest_key > store::kMaxStoreKeyBytes) {
    return TooLarge("a key", longest_key, store::kMaxStoreKeyBytes);
  }
  const size_t longest_value =
      std::max(request.value.size(), request.expected.size());
  if (longest_value > store::kMaxStoreValueBytes) {
    return TooLarge("a value", longest_value, store::kMaxStoreValueBytes);
  }
  // The 64 bytes allow for the framing of a request: its command, and the
  // lengths that precede keys and values.
  if (bytes + 64 > store::kMaxStoreRequestBytes) {
    return TooLarge("a request", bytes, store::kMaxStoreRequestBytes);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<TcpStore>> TcpStore::Connect(
    const TcpStoreOptions& options) {
  absl::StatusOr<store::StoreChannel> connection =
      store::DialStore(options.host, options.port, options.connect_deadline);
  if (!connection.ok()) return connection.status();
  return std::unique_ptr<TcpStore>(
      new TcpStore(options, *std::move(connection)));
}

TcpStore::TcpStore(const TcpStoreOptions& options,
                   store::StoreChannel connection)
    : host_(options.host),
      port_(options.port),
      name_(
          absl::StrCat("the store at ", HostPort(options.host, options.port))),
      operation_timeout_(options.operation_timeout),
      connection_(std::move(connection)),
      lines_(options.host, options.port, options.wait_connections) {}

Instant TcpStore::Unlimited() const {
  return MonotonicNow() + 3 * operation_timeout_;
}

bool TcpStore::TakeTurn(Instant limit) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!freed_.wait_until(lock, ToSteady(limit), [this] { return !taken_; })) {
    return false;
  }
  taken_ = true;
  return true;
}

absl::StatusOr<std::vector<store::StoreReply>> TcpStore::Ask(
    const std::vector<store::StoreRequest>& requests, Instant limit) {
  std::string bytes;
  for (const store::StoreRequest& request : requests) {
    absl::Status sound = CheckBounds(request);
    if (!sound.ok()) return sound;
    store::AppendRequest(request, &bytes);
  }
  if (!TakeTurn(limit)) {
    return absl::DeadlineExceededError(
        absl::StrCat(name_, " has not answered earlier questions in time"));
  }
  std::vector<store::StoreReply> replies;
  absl::Status done = broken_;
  if (done.ok()) {
    done = Exchange(bytes, requests, limit, &replies);
    if (!broken_.ok() && requests.back().command == store::StoreCommand::kAdd) {
      done = AfterRefusedAdd(requests.back(), done);
    }
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    taken_ = false;
    freed_.notify_one();
  }
  if (!done.ok()) return done;
  return replies;
}

absl::Status TcpStore::Exchange(
    const std::string& bytes, const std::vector<store::StoreRequest>& requests,
    Instant limit, std::vector<store::StoreReply>* replies) {
  std::vector<store::StoreReply> late;
  absl::Status done = ReceiveOwed(limit, &late);
  if (!done.ok()) return done;
  owed_until_ = MonotonicNow() + operation_timeout_;
  done = connection_.Send(bytes, std::min(limit, owed_until_));
  if (!done.ok()) {
    // Even after a mere timeout, the connection cannot be used for later calls:
    // a part of the request may have been sent.
    broken_ = absl::UnavailableError(std::string(done.message()));
    return broken_;
  }
  for (const store::StoreRequest& request : requests) {
    if (store::ReplyOf(request.command) == store::ReplyShape::kNone) continue;
    owed_.push_back({request.command, request.keys.size()});
  }
  return ReceiveOwed(limit, replies);
}

absl::Status TcpStore::ReceiveOwed(Instant limit,
                                   std::vector<store::StoreReply>* replies) {
  while (!owed_.empty()) {
    absl::StatusOr<store::StoreReply> reply =
        connection_.Receive(owed_.front().command, owed_.front().keys,
                            std::min(limit, owed_until_));
    if (reply.ok()) {
      owed_.pop_front();
      replies->push_back(*std::move(reply));
    } else if (absl::IsDeadlineExceeded(reply.status()) &&
               limit < owed_until_) {
      return reply.status();
    } else {
      broken_ = absl::UnavailableError(std::string(reply.status().message()));
      return broken_;
    }
  }
  return absl::OkStatus();
}

absl::Status TcpStore::AfterRefusedAdd(const store::StoreRequest& add,
                                       const absl::Status& lost) {
  // Make only one attempt to connect: a store that still runs accepts a
  // connection at once.
  absl::StatusOr<store::StoreChannel> again =
      store::StoreChannel::Open(host_, port_, MonotonicNow() + kLeastTimeout);
  if (!again.ok()) return lost;
  const auto ask = [&](const store::StoreRequest& request) {
    std::string bytes;
    store::AppendRequest(request, &bytes);
    const Instant limit = MonotonicNow() + kLeastTimeout;
    const absl::Status sent = again->Send(bytes, limit);
    return sent.ok() ? again->Receive(request.command, 0, limit)
                     : absl::StatusOr<store::StoreReply>(sent);
  };
  const auto there =
      ask({.command = store::StoreCommand::kCheck, .keys = {add.key}});
  if (!there.ok() || there->number != store::kStoreReady) return lost;
  const auto value =
      ask({.command = store::StoreCommand::kGet, .key = add.key});
  if (!value.ok()) return lost;
  const absl::StatusOr<int64_t> sum =
      SumOf(std::string(add.key.substr(1)), value->strings.front(), add.number);
  // The client itself could add `add.number` to the value: the value is a
  // number, and the sum does not overflow. So the server did not reject the
  // Add, but has closed the connection for another reason.
  if (sum.ok()) return lost;
  connection_ = *std::move(again);
  owed_.clear();
  broken_ = absl::OkStatus();
  return sum.status();
}

absl::StatusOr<store::StoreReply> TcpStore::AskOne(
    const store::StoreRequest& request, Instant limit) {
  absl::StatusOr<std::vector<store::StoreReply>> replies =
      Ask({request}, limit);
  if (!replies.ok()) return replies.status();
  return std::move(replies->front());
}

absl::Status TcpStore::Set(const std::string& key, const std::string& value) {
  const std::string whole = OnWire(key);
  return Ask({{.command = store::StoreCommand::kSet,
               .key = whole,
               .value = value}},
             Unlimited())
      .status();
}

absl::StatusOr<std::string> TcpStore::Get(const std::string& key,
                                          Instant deadline) {
  const Instant started = MonotonicNow();
  const std::string whole = OnWire(key);
  while (true) {
    // Send CHECK before GET. In the protocol, a GET of an absent key is not an
    // error: the reply looks like an empty value, or the server (PyTorch's
    // without libuv) closes the connection.
    absl::StatusOr<bool> is_there = CheckBy({key}, AnswerBy(deadline));
    if (!is_there.ok()) return is_there.status();
    if (*is_there) {
      absl::StatusOr<store::StoreReply> reply =
          AskOne({.command = store::StoreCommand::kGet, .key = whole},
                 AnswerBy(deadline));
      if (!reply.ok()) return reply.status();
      return std::move(reply->strings.front());
    }
    absl::Status there = WaitForAll(
        {.command = store::StoreCommand::kWait, .keys = {whole}}, deadline);
    if (absl::IsDeadlineExceeded(there) && there.message().empty()) {
      return AbsentKeysError({key}, MonotonicNow() - started, name_);
    }
    if (!there.ok()) return there;
  }
}

absl::Status TcpStore::Wait(const std::vector<std::string>& keys,
                            Instant deadline) {
  const Instant started = MonotonicNow();
  absl::StatusOr<bool> all = CheckBy(keys, AnswerBy(deadline));
  if (!all.ok()) return all.status();
  if (*all) return absl::OkStatus();
  const std::vector<std::string> whole = OnWire(keys);
  absl::Status there = WaitForAll(
      {.command = store::StoreCommand::kWait, .keys = Views(whole)}, deadline);
  if (!absl::IsDeadlineExceeded(there) || !there.message().empty()) {
    return there;
  }
  return NameAbsent(keys, MonotonicNow() - started);
}

absl::Status TcpStore::WaitForAll(const store::StoreRequest& wait,
                                  Instant deadline) {
  std::string bytes;
  store::AppendRequest(wait, &bytes);
  while (MonotonicNow() < deadline) {
    absl::Status waited = lines_.Wait(
        bytes, deadline, std::min(deadline, MonotonicNow() + kAskAgain));
    if (!absl::IsResourceExhausted(waited)) return waited;
    absl::StatusOr<store::StoreReply> reply =
        AskOne({.command = store::StoreCommand::kCheck, .keys = wait.keys},
               AnswerBy(deadline));
    if (!reply.ok()) return reply.status();
    if (reply->number == store::kStoreReady) return absl::OkStatus();
  }
  return absl::DeadlineExceededError("");
}

absl::Status TcpStore::NameAbsent(const std::vector<std::string>& keys,
                                  Duration waited) {
  std::vector<std::string> absent;
  for (size_t first = 0; first < keys.size(); first += kQuestions) {
    const size_t last = std::min(keys.size(), first + kQuestions);
    const std::vector<std::string> whole = OnWire(
        std::vector<std::string>(keys.begin() + first, keys.begin() + last));
    std::vector<store::StoreRequest> questions;
    questions.reserve(whole.size());
    for (const std::string& key : whole) {
      questions.push_back(
          {.command = store::StoreCommand::kCheck, .keys = {key}});
    }
    absl::StatusOr<std::vector<store::StoreReply>> replies =
        Ask(questions, AnswerBy(MonotonicNow()));
    if (!replies.ok()) return replies.status();
    for (size_t i = 0; i < replies->size(); ++i) {
      if ((*replies)[i].number != store::kStoreReady) {
        absent.push_back(keys[first + i]);
      }
    }
  }
  return absent.empty() ? absl::OkStatus()
                        : AbsentKeysError(absent, waited, name_);
}

absl::StatusOr<int64_t> TcpStore::Add(const std::string& key, int64_t amount) {
  const std::string whole = OnWire(key);
  absl::StatusOr<store::StoreReply> reply = AskOne(
      {.command = store::StoreCommand::kAdd, .key = whole, .number = amount},
      Unlimited());
  if (!reply.ok()) return reply.status();
  return reply->number;
}

absl::StatusOr<std::string> TcpStore::CompareSet(const std::string& key,
                                                 const std::string& expected,
                                                 const std::string& desired) {
  const std::string whole = OnWire(key);
  absl::StatusOr<store::StoreReply> reply =
      AskOne({.command = store::StoreCommand::kCompareSet,
              .key = whole,
              .value = desired,
              .expected = expected},
             Unlimited());
  if (!reply.ok()) return reply.status();
  return std::move(reply->strings.front());
}

absl::StatusOr<bool> TcpStore::Delete(const std::string& key) {
  const std::string whole = OnWire(key);
  absl::StatusOr<store::StoreReply> reply = AskOne(
      {.command = store::StoreCommand::kDelete, .key = whole}, Unlimited());
  if (!reply.ok()) return reply.status();
  return reply->number > 0;
}

absl::StatusOr<bool> TcpStore::Check(const std::vector<std::string>& keys) {
  return CheckBy(keys, Unlimited());
}

absl::StatusOr<bool> TcpStore::CheckBy(const std::vector<std::string>& keys,
                                       Instant limit) {
  if (keys.empty()) return true;
  const std::vector<std::string> whole = OnWire(keys);
  absl::StatusOr<store::StoreReply> reply = AskOne(
      {.command = store::StoreCommand::kCheck, .keys = Views(whole)}, limit);
  if (!reply.ok()) return reply.status();
  return reply->number == store::kStoreReady;
}

}  // namespace muster
