#ifndef MUSTER_STORE_CLIENT_STORE_CHANNEL_H_
#define MUSTER_STORE_CLIENT_STORE_CHANNEL_H_

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "store/wire/command.h"
#include "store/wire/reply.h"

namespace muster {

// One connection to a store, in the modern framing of PyTorch's protocol. For
// one thread at a time.
//
// After any error but one of Receive's DeadlineExceeded the connection is of
// no use. After that one, the reply may still come: whoever goes on must
// receive it first.
class StoreChannel {
 public:
  // Connects and greets; one attempt.
  //   Unavailable         nobody listens there, or nobody answered in time
  //   FailedPrecondition  whoever listens closed the connection at the
  //                       greeting, or answered something else: no store, or
  //                       PyTorch's of before 2.1
  static absl::StatusOr<StoreChannel> Open(const std::string& host, int port,
                                           Instant deadline);

  // Sends whole requests (AppendRequest).
  //   DeadlineExceeded  the store does not read
  //   Unavailable       the connection is lost
  absl::Status Send(const std::string& requests, Instant deadline);

  // The reply to the oldest request that has one. `keys` as ReplyParser's.
  //   DeadlineExceeded  it has not come
  //   Unavailable       the connection is lost, or what came is no reply
  absl::StatusOr<StoreReply> Receive(StoreCommand command, size_t keys,
                                     Instant deadline);

 private:
  StoreChannel(OwnedFd socket, std::string peer)
      : socket_(std::move(socket)), peer_(std::move(peer)) {}

  absl::Status Greet(Instant deadline);
  // Waits for bytes and appends them to received_.
  absl::Status ReceiveSome(Instant deadline);
  absl::Status Lost(const std::string& how) const;

  OwnedFd socket_;
  std::string peer_;  // "the store at HOST:PORT"
  std::string received_;
};

}  // namespace muster

#endif  // MUSTER_STORE_CLIENT_STORE_CHANNEL_H_
