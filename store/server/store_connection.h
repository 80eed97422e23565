#ifndef MUSTER_STORE_SERVER_STORE_CONNECTION_H_
#define MUSTER_STORE_SERVER_STORE_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/owned_fd.h"
#include "store/core/store_effects.h"
#include "store/server/buffer_budget.h"
#include "store/server/byte_queue.h"
#include "store/wire/request_parser.h"

namespace muster::store {

// One socket of a hub with its buffers and state. Takes a few hundred bytes
// while it is idle, because there may be tens of thousands of idle connections.
struct StoreConnection {
  enum class Role {
    kClient,
    kRelay,     // A relay: its bytes are frames of many clients.
    kUpstream,  // The destination of a relay's own requests.
  };

  OwnedFd socket;
  StoreClientId id = 0;
  Role role = Role::kClient;
  RequestParser parser;
  ByteQueue in;
  ByteQueue out;
  // Only for a relay: its clients by channel.
  std::map<uint32_t, StoreClientId> channels;
  // The events that epoll was told to watch.
  uint32_t watched = 0;
  // Whether the connection is in the hub's list of connections to flush.
  bool flushing = false;
  // Whether reading from the socket and handling of `in` are paused, because
  // replies or upstream data are backed up.
  bool stalled = false;
  // Whether the connection is in the hub's FIFO of connections that wait for
  // the buffer budget.
  bool queued = false;
  // Whether the connection is closed once the current event is handled.
  bool ending = false;
  // The connection's account in the hub's buffer budget.
  BufferShare share;

  // Memory of its buffers and channels in bytes.
  size_t Memory() const {
    return in.capacity() + parser.memory() + out.capacity() +
           channels.size() * kBytesPerChannel;
  }

 private:
  static constexpr size_t kBytesPerChannel = 256;
};

// Returns "10.1.2.3:4567", or as much as is known of the peer.
std::string PeerName(const OwnedFd& socket);

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_STORE_CONNECTION_H_
