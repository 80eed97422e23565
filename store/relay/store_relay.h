#ifndef MUSTER_STORE_RELAY_STORE_RELAY_H_
#define MUSTER_STORE_RELAY_STORE_RELAY_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster {

struct StoreRelayOptions {
  // Where the round's StoreServer is: a host's name or address, and a port.
  std::string upstream_host;
  int upstream_port = 0;
  // Until when (MonotonicNow's clock) the upstream must have been reached.
  // Other tries follow a refused one until then.
  Instant deadline;
  // As StoreServerOptions.
  std::string address;
  int port = 0;
  OwnedFd listener;
  // More than twice the largest reply: a buffer that grows doubles.
  size_t max_buffer_bytes = size_t{1} << 30;
  // As StoreServerOptions, and shorter: while the relay waits for its clients,
  // the server waits for the relay.
  Duration patience = std::chrono::seconds(3);
  // As StoreServerOptions.
  std::function<void(const std::string&)> on_notice;
};

// A node's relay of the round's store: its workers talk to it as they would to
// the StoreServer, and it holds one connection to that. Equal waits and reads
// of several workers are one upstream; everything else passes on in order. A
// worker that waits keeps no other waiting. When the upstream is lost, every
// connection is ended, as if the store itself had been closed.
//
// Thread-safe. One thread of its own, as a StoreServer's.
class StoreRelay {
 public:
  // Connected and listening when this returns; blocks until then, at most until
  // the deadline.
  //   Unavailable        the upstream cannot be reached; the last error
  //   DeadlineExceeded   it, or the resolver, does not answer
  //   FailedPrecondition it is a store that takes no relay
  //   and as StoreServer::Start
  static absl::StatusOr<std::unique_ptr<StoreRelay>> Start(
      StoreRelayOptions options);

  ~StoreRelay();
  StoreRelay(const StoreRelay&) = delete;
  StoreRelay& operator=(const StoreRelay&) = delete;

  // The port that it listens on.
  int port() const;

  // Listens no more and ends every connection. Further calls do nothing.
  void Close();

 private:
  class Running;
  explicit StoreRelay(std::unique_ptr<Running> running);

  const std::unique_ptr<Running> running_;
};

}  // namespace muster

#endif  // MUSTER_STORE_RELAY_STORE_RELAY_H_
