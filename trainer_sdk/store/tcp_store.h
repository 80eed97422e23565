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

// The connections on which a client's threads wait for keys, one thread per
// connection. They are opened on demand, at most `max_channels` of them.
// Thread-safe.
class WaitLines {
 public:
  WaitLines(std::string host, int port, size_t max_channels)
      : host_(std::move(host)), port_(port), max_channels_(max_channels) {}

  // Sends the WAIT in `request` and blocks until its reply.
  //   DeadlineExceeded   some keys do not exist; with a message, the store did
  //                      not say whether they do
  //   ResourceExhausted  no connection was free or could be opened until
  //                      `timeout`; nothing was sent
  //   Unavailable        the store cannot be reached
  absl::Status Wait(const std::string& request, Instant deadline,
                    Instant timeout);

 private:
  // Takes a free connection; nullopt: the caller has to open one. Fails if no
  // connection becomes available until `timeout`.
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
  // The time until which connection attempts are repeated.
  Instant connect_deadline;
  // The longest time for the store to answer a request that does not wait.
  Duration operation_timeout = std::chrono::seconds(60);
  // The largest number of threads that wait on connections of their own;
  // further threads poll.
  size_t wait_connections = 8;
};

// A client for PyTorch's TCPStore protocol. The server is an agent, another
// worker, or PyTorch 2.1 or later. Keys are the same as with PyTorch's client,
// because both put a "/" before them. Thread-safe.
//
// All requests except waits use one connection, one after another, so that the
// operations of a process take effect in the order of its calls. Set is not
// acknowledged: if the store is lost during a Set, the next call returns the
// error. The client never reconnects, because a lost store has lost its
// contents: from then on every call fails with Unavailable. The one exception
// is an Add that the server rejects. The protocol has no error reply for that,
// so servers, including PyTorch's, close the connection. The client then reads
// the value over a new connection, which replaces the old one if the value is
// not a number.
//
// Get and Wait return at their deadline even if the store does not answer, plus
// up to one second for each request that they send. The next request reads such
// a late reply from the connection first.
class TcpStore final : public Store {
 public:
  // Connects to a store. Errors are those of DialStore.
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

  // A reply that has not arrived and whose request timed out.
  struct Owed {
    store::StoreCommand command;
    size_t keys;
  };

  // The deadline of a call without a time limit: late enough that the store is
  // declared lost before it, even if other requests are pending.
  Instant Unlimited() const;
  // Sends the requests and receives the replies of those that have one.
  // DeadlineExceeded: the replies did not come by `limit`, or earlier requests
  // kept this one from being sent; the client stays usable.
  absl::StatusOr<std::vector<store::StoreReply>> Ask(
      const std::vector<store::StoreRequest>& requests, Instant limit);
  absl::StatusOr<store::StoreReply> AskOne(const store::StoreRequest& request,
                                           Instant limit);
  absl::StatusOr<bool> CheckBy(const std::vector<std::string>& keys,
                               Instant limit);
  // Blocks until no other thread uses the connection; false at `limit`.
  bool TakeTurn(Instant limit);
  // The next two functions may be called only by the thread that uses the
  // connection (TakeTurn).
  absl::Status Exchange(const std::string& bytes,
                        const std::vector<store::StoreRequest>& requests,
                        Instant limit, std::vector<store::StoreReply>* replies);
  // Receives all replies of abandoned requests; DeadlineExceeded at `limit`.
  absl::Status ReceiveOwed(Instant limit,
                           std::vector<store::StoreReply>* replies);
  // Called by the thread that uses the connection, after the connection closed
  // during `add`. Returns the FailedPrecondition for which the server closed
  // it, with a new connection in place; or `lost`, if that was not the reason
  // or cannot be determined.
  absl::Status AfterRefusedAdd(const store::StoreRequest& add,
                               const absl::Status& lost);
  // Blocks until the keys of `wait` exist. The message of DeadlineExceeded does
  // not name them.
  absl::Status WaitForAll(const store::StoreRequest& wait, Instant deadline);
  // AbsentKeysError for the keys that are missing; OK if none is.
  absl::Status NameAbsent(const std::vector<std::string>& keys,
                          Duration waited);

  const std::string host_;
  const int port_;
  const std::string name_;  // "the store at HOST:PORT"
  const Duration operation_timeout_;
  std::mutex mutex_;
  std::condition_variable freed_;
  // guarded by mutex_; the thread that set it owns the following members
  bool taken_ = false;
  store::StoreChannel connection_;
  std::deque<Owed> owed_;  // replies to requests that timed out, oldest first
  // time after which missing replies mean that the store is lost
  Instant owed_until_;
  absl::Status broken_;  // why connection_ cannot be used any more
  WaitLines lines_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_STORE_TCP_STORE_H_
