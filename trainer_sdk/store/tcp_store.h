#ifndef MUSTER_TRAINER_SDK_STORE_TCP_STORE_H_
#define MUSTER_TRAINER_SDK_STORE_TCP_STORE_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "store/client/store_channel.h"
#include "store/wire/command.h"
#include "store/wire/request.h"
#include "trainer_sdk/store/store.h"
#include "trainer_sdk/store/wait_lines.h"

namespace muster {

struct TcpStoreOptions {
  std::string host;
  int port = 0;
  // Until when connecting is tried again and again.
  Instant connect_deadline;
  // How long the store may take to answer what it answers at once.
  Duration operation_timeout = std::chrono::seconds(60);
  // How many threads may wait on connections of their own; more of them ask
  // every now and then.
  size_t wait_connections = 8;
};

// A client of a store in PyTorch's TCPStore protocol: an agent's, another
// worker's, PyTorch's own from 2.1 on. A key is the same key for PyTorch's
// TCPStore, which puts a "/" in front of it as this one does. Thread-safe.
//
// Everything but waiting goes over one connection, one after the other, so
// that what a process does takes effect in the order in which it did it. Set
// is not acknowledged: a store that is lost under it fails the next call. That
// connection is never taken up again, as a store that was lost has forgotten:
// from then on every call fails with Unavailable. The one exception is an Add
// that a server refuses. The protocol has no error reply for it, so servers,
// PyTorch's too, close the connection; then a new one shows whether the value
// is a number, and takes the old one's place if it is none.
//
// Get and Wait return at their deadline whatever the store does, but for a
// second for each question that they ask on the way; whoever asks next takes
// the late answer from the connection first.
class TcpStore final : public Store {
 public:
  // Errors as DialStore's.
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
  TcpStore(const TcpStoreOptions& options, StoreChannel connection);

  // A reply that was given up and is still to come.
  struct Owed {
    StoreCommand command;
    size_t keys;
  };

  // Of a call without a deadline: beyond what the ones in front of it may
  // take, so that the store is found lost before.
  Instant Unlimited() const;
  // Sends the requests and receives the replies of those that have one.
  // DeadlineExceeded, and the client goes on: they have not come by `limit`,
  // or nothing could be sent until then because of earlier ones.
  absl::StatusOr<std::vector<StoreReply>> Ask(
      const std::vector<StoreRequest>& requests, Instant limit);
  absl::StatusOr<StoreReply> AskOne(const StoreRequest& request, Instant limit);
  absl::StatusOr<bool> CheckBy(const std::vector<std::string>& keys,
                               Instant limit);
  // Waits for the connection's turn; false after `limit`.
  bool TakeTurn(Instant limit);
  // Both for the one who has its turn:
  absl::Status Exchange(const std::string& bytes,
                        const std::vector<StoreRequest>& requests,
                        Instant limit, std::vector<StoreReply>* replies);
  // Receives all that is owed; DeadlineExceeded where `limit` comes first.
  absl::Status ReceiveOwed(Instant limit, std::vector<StoreReply>* replies);
  // For the one who has its turn, after the connection ended under `add`: the
  // FailedPrecondition for which the server closed it, with a new connection in
  // place; `lost` where that was not the reason or cannot be found out.
  absl::Status AfterRefusedAdd(const StoreRequest& add,
                               const absl::Status& lost);
  // Waits until the keys on the wire are there; DeadlineExceeded names none.
  absl::Status WaitForAll(const StoreRequest& wait, Instant deadline);
  // AbsentKeysError of those that are; Ok where all are there after all.
  absl::Status NameAbsent(const std::vector<std::string>& keys,
                          Duration waited);

  const std::string host_;
  const int port_;
  const std::string name_;  // "the store at HOST:PORT"
  const Duration operation_timeout_;
  std::mutex mutex_;
  std::condition_variable freed_;
  bool taken_ = false;  // guarded by mutex_; who has set it has these:
  StoreChannel connection_;
  std::deque<Owed> owed_;  // of the last Ask
  Instant owed_until_;     // not there by then: the store is lost
  absl::Status broken_;    // why connection_ is of no use any more
  WaitLines lines_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_STORE_TCP_STORE_H_
