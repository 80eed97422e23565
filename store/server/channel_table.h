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

namespace muster {

// Which client of the store each channel of each relay's connection is, and
// back. The clients' ids are unlike those of connections.
class ChannelTable {
 public:
  struct Place {
    StoreClientId connection;
    uint32_t channel;
  };

  static bool IsChannel(StoreClientId client) { return client & kBit; }

  // The channel's client, a new one where there was none.
  // ResourceExhausted: the connection has too many.
  absl::StatusOr<StoreClientId> ClientOf(StoreConnection& connection,
                                         uint32_t channel);

  // Where the client is; null where it is gone.
  const Place* Find(StoreClientId client) const;

  // Forgets a channel, or all of the connection; the clients that are gone with
  // it are appended. Nothing where there is none.
  void End(StoreConnection& connection, uint32_t channel,
           std::vector<StoreClientId>* gone);
  void EndAll(StoreConnection& connection, std::vector<StoreClientId>* gone);

 private:
  static constexpr StoreClientId kBit = StoreClientId{1} << 63;

  std::unordered_map<StoreClientId, Place> places_;
  uint64_t next_ = 0;
};

}  // namespace muster

#endif  // MUSTER_STORE_SERVER_CHANNEL_TABLE_H_
