#ifndef MUSTER_TRAINER_SDK_STORE_TCP_STORE_H_
#define MUSTER_TRAINER_SDK_STORE_TCP_STORE_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "store/client/store_channel.h"
#include "store/wire/request.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// The connections on which a client's threads wait for keys, in addition to the
// client's main connection. Each is used by one thread at a time. A connection
// is opened when a thread needs it; at most `max_channels` are open.
// Thread-safe.
class WaitLines {
 public:
  WaitLines(std::string host, int port, size_t max_channels)
      : host_(std::move(host)), port_(port), max_channels_(max_channels) {}

  // Sends `request`, an encoded WAIT request, and blocks until its reply
  // arrives.
  //   DeadlineExceeded   without a message: some keys do not exist; with a
  //                      message: the store did not answer in time, so it is
  //                      unknown whether the keys exist
  //   ResourceExhausted  by `timeout`, no connection was free or could be
  //                      opened; nothing was sent
  //   Unavailable        the store cannot be reached
  absl::Status Wait(const std::string& request, Instant deadline,
                    Instant timeout);

 private:
  // Takes a connection that no thread uses. nullopt: all open connections are
  // in use, but the caller may open another one. ResourceExhausted: the maximum
  // number of connections is in use until `timeout`.
  absl::StatusOr<std::optional<store::StoreChannel>> Take(Instant timeout);
  void GiveBack(std::optional<store::StoreChannel> line);

  const std::string host_;
  const int port_;
  const size_t max_channels_;
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<store::StoreChannel> free_;
  size_t taken_ = 0;
};

struct TcpStoreOptions {
  std::string host;
  int port = 0;
  // The time until which failed connection attempts are repeated.
  Instant connect_deadline;
  // The longest time to wait for the reply to any request except WAIT.
  Duration operation_timeout = std::chrono::seconds(60);
  // The largest number of threads that wait on connections of their own.
  // Further threads poll.
  size_t wait_connections = 8;
};

// A client for PyTorch's TCPStore protocol. The server is an agent, another
// worker, or PyTorch 2.1 or later. Keys are compatible with PyTorch's client,
// because both clients put a "/" before each key. Thread-safe.
//
// All requests except waits use one connection, one after another, so that the
// operations of a process take effect in the order of its calls. Set is not
// acknowledged: if the store is lost during a Set, the next call returns the
// error. The client does not reconnect, because a lost store has lost its
// contents. Every later call fails with Unavailable.
//
// There is one exception: a rejected Add. The protocol has no error reply for
// it, so servers close the connection. The client then reads the value over a
// new connection. If the value is not a number, the new connection replaces the
// old one.
//
// If the store does not answer, Get and Wait return at their deadline, plus up
// to one second for each request that they send. The late reply is read from
// the connection before the next request.
class TcpStore final : public Store {
 public:
  // Connects to a store. Errors are those of the function DialStore.
  static absl::StatusOr<std::unique_ptr<TcpStore>> Connect(
      const TcpStoreOptions& options);

  absl::Status Set(const std::string& key, const std::string& value) override;
  absl::StatusOr<std::string> Get(const std::string& key,
                                  Instant deadline) override;
  absl::Status Wait(const std::vector<std::string>& keys,
                    Instant deadline) override;
  absl::StatusOr<int64_t> Add(const std::string& key, int64_t amount) override;
  absl::StatusOr<std::string> CompareSet(const std::string& key,
                                         const std::string& expected,
                                         const std::string& desired) override;
  absl::StatusOr<bool> Delete(const std::string& key) override;
  absl::StatusOr<bool> Check(const std::vector<std::string>& keys) override;

 private:
  TcpStore(const TcpStoreOptions& options, store::StoreChannel connection);

  // A request whose reply has not arrived in time. The reply must still be read
  // from the connection.
  struct Owed {
    store::StoreCommand command;
    size_t keys;
  };

  // Returns the deadline for a call whose caller gives none: three times
  // operation_timeout from now. If the store does not answer, the client
  // declares it lost before this deadline, even if the call must first wait for
  // earlier requests.
  Instant Unlimited() const;
  // Sends the requests and returns their replies, in the order of the requests.
  // A request to which the protocol has no reply, such as SET, has no entry in
  // the result. DeadlineExceeded: the replies did not arrive by `limit`, or an
  // earlier request still used the connection; the client can still be used.
  absl::StatusOr<std::vector<store::StoreReply>> Ask(
      const std::vector<store::StoreRequest>& requests, Instant limit);
  absl::StatusOr<store::StoreReply> AskOne(const store::StoreRequest& request,
                                           Instant limit);
  absl::StatusOr<bool> CheckBy(const std::vector<std::string>& keys,
                               Instant limit);
  // Blocks until no other thread uses the connection, and reserves it for this
  // thread. Returns false at `limit`.
  bool TakeTurn(Instant limit);
  // Exchange and ReceiveOwed may be called only by the thread that has reserved
  // the connection (TakeTurn). Exchange sends `bytes`, the encoded `requests`,
  // and receives their replies.
  absl::Status Exchange(const std::string& bytes,
                        const std::vector<store::StoreRequest>& requests,
                        Instant limit, std::vector<store::StoreReply>* replies);
  // Receives all replies that have not been read yet. DeadlineExceeded: not all
  // arrived by `limit`.
  absl::Status ReceiveOwed(Instant limit,
                           std::vector<store::StoreReply>* replies);
  // Called by the thread that has reserved the connection, after the server
  // closed it during `add`. Determines the reason. If the server rejects the
  // Add, opens a new connection and returns FailedPrecondition. Otherwise, or
  // if the reason cannot be determined, returns `lost`.
  absl::Status AfterRefusedAdd(const store::StoreRequest& add,
                               const absl::Status& lost);
  // Blocks until the keys that the request `wait` names exist. The message of
  // DeadlineExceeded does not name the missing keys.
  absl::Status WaitForAll(const store::StoreRequest& wait, Instant deadline);
  // Checks which keys are missing, and returns an AbsentKeysError that names
  // them; OK if no key is missing.
  absl::Status NameAbsent(const std::vector<std::string>& keys,
                          Duration waited);

  const std::string host_;
  const int port_;
  // name of the store in errors: "the store at HOST:PORT"
  const std::string name_;
  const Duration operation_timeout_;
  std::mutex mutex_;
  std::condition_variable freed_;
  // Whether a thread has reserved the connection; guarded by mutex_. Only that
  // thread may use the members from connection_ to broken_.
  bool taken_ = false;
  store::StoreChannel connection_;
  // missing replies to requests that timed out, oldest first
  std::deque<Owed> owed_;
  // time at which the store counts as lost if a reply in owed_ is still missing
  Instant owed_until_;
  // reason why connection_ cannot be used any more; OK if it can
  absl::Status broken_;
  WaitLines lines_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_STORE_TCP_STORE_H_
