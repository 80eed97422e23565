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

namespace muster {

// One socket of a hub and what is under way on it. A few hundred bytes while it
// is idle, as most of tens of thousands are.
struct StoreConnection {
  enum class Role {
    kClient,
    kRelay,     // Its bytes are frames of many clients.
    kUpstream,  // Where a relay's own requests go.
  };

  OwnedFd socket;
  StoreClientId id = 0;
  Role role = Role::kClient;
  RequestParser parser;
  ByteQueue in;
  ByteQueue out;
  // Of a relay: the clients by channel.
  std::map<uint32_t, StoreClientId> channels;
  // What epoll was told to watch for.
  uint32_t watched = 0;
  // Whether it is in the hub's list of those with something to send.
  bool flushing = false;
  // Whether it is not read from, nor what lies in `in` looked at, since replies
  // or the upstream's bytes pile up.
  bool stalled = false;
  // Whether it is in the hub's queue of those that stall for what all hold.
  bool queued = false;
  // Whether it ends as soon as the current event is handled.
  bool ending = false;
  // What the hub's account has for it.
  BufferShare share;

  // The memory that its bytes and channels take.
  size_t Memory() const {
    return in.capacity() + parser.memory() + out.capacity() +
           channels.size() * kBytesPerChannel;
  }

 private:
  static constexpr size_t kBytesPerChannel = 256;
};

// "10.1.2.3:4567", or what is known of it.
std::string PeerName(const OwnedFd& socket);

}  // namespace muster

#endif  // MUSTER_STORE_SERVER_STORE_CONNECTION_H_
