#ifndef MUSTER_STORE_SERVER_CHANNEL_TABLE_H_
#define MUSTER_STORE_SERVER_CHANNEL_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "store/core/store_effects.h"
#include "store/server/store_connection.h"

namespace muster::store {

// Maps the channels of relays' connections to client ids and back. These ids
// differ from all ids of connections.
class ChannelTable {
 public:
  struct Place {
    StoreClientId connection;
    uint32_t channel;
  };

  static bool IsChannel(StoreClientId client) { return client & kBit; }

  // Returns the client of the channel, created if it is new. ResourceExhausted:
  // the connection has too many channels.
  absl::StatusOr<StoreClientId> ClientOf(StoreConnection& connection,
                                         uint32_t channel);

  // The connection and channel of the client; null if the client is gone.
  const Place* Find(StoreClientId client) const;

  // Removes one channel, or all channels of the connection, and appends the
  // removed clients to `gone`.
  void End(StoreConnection& connection, uint32_t channel,
           std::vector<StoreClientId>* gone);
  void EndAll(StoreConnection& connection, std::vector<StoreClientId>* gone);

 private:
  static constexpr StoreClientId kBit = StoreClientId{1} << 63;

  std::unordered_map<StoreClientId, Place> places_;
  uint64_t next_ = 0;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_CHANNEL_TABLE_H_
