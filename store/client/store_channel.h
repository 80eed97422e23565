#ifndef MUSTER_STORE_CLIENT_STORE_CHANNEL_H_
#define MUSTER_STORE_CLIENT_STORE_CHANNEL_H_

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "store/wire/reply.h"
#include "store/wire/request.h"

namespace muster::store {

// One connection to a store, in the modern framing of PyTorch's protocol. Not
// thread-safe.
//
// After an error the connection must not be used any more, with one exception:
// after DeadlineExceeded from Receive, the reply may still arrive, so the next
// call must receive that reply first.
class StoreChannel {
 public:
  // Makes one attempt to connect and to exchange the greeting. Blocks until
  // `deadline` at most.
  //   Unavailable         no process listens there, or no answer came in time
  //   FailedPrecondition  the peer closed the connection at the greeting or
  //                       sent another answer: it is not a store, or one of
  //                       PyTorch before 2.1
  static absl::StatusOr<StoreChannel> Open(const std::string& host, int port,
                                           Instant deadline);

  // Sends one or more whole requests, encoded by AppendRequest.
  //   DeadlineExceeded  the store does not read
  //   Unavailable       the connection is lost
  absl::Status Send(const std::string& requests, Instant deadline);

  // Receives the reply to the oldest request that is not answered yet.
  // `command`: the command of that request. `keys`: the number of its keys;
  // used for MULTI_GET only.
  //
  //   DeadlineExceeded  the reply has not arrived, or only a part of it
  //   Unavailable       the connection is lost, or the bytes are not a reply
  absl::StatusOr<StoreReply> Receive(StoreCommand command, size_t keys,
                                     Instant deadline);

 private:
  StoreChannel(OwnedFd socket, std::string peer)
      : socket_(std::move(socket)), peer_(std::move(peer)) {}

  absl::Status Greet(Instant deadline);
  // Waits until bytes arrive and appends them to received_.
  absl::Status ReceiveSome(Instant deadline);
  absl::Status Lost(const std::string& how) const;

  OwnedFd socket_;
  std::string peer_;  // the store's name in errors: "the store at HOST:PORT"
  std::string received_;
};

// Connects to the store and retries until `deadline`: the store's host may
// start later than this one, and its name may not be in DNS yet. If `deadline`
// has passed, makes one attempt without waiting. Blocks.
//
// DeadlineExceeded: the message contains the time spent and the last error.
// FailedPrecondition: the peer is not a store; returned after five such
// attempts in a row.
absl::StatusOr<StoreChannel> DialStore(const std::string& host, int port,
                                       Instant deadline);

}  // namespace muster::store

#endif  // MUSTER_STORE_CLIENT_STORE_CHANNEL_H_
