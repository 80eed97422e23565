#include "store/server/channel_table.h"

#include "store/wire/relay_frames.h"

namespace muster::store {

absl::StatusOr<StoreClientId> ChannelTable::ClientOf(
    StoreConnection& connection, uint32_t channel) {
  const auto known = connection.channels.find(channel);
  if (known != connection.channels.end()) return known->second;
  if (connection.channels.size() >= kMaxRelayChannels) {
    return absl::ResourceExhaustedError("a relay with too many channels");
  }
  const StoreClientId client = kBit | next_++;
  connection.channels.emplace(channel, client);
  places_.emplace(client, Place{connection.id, channel});
  return client;
}

const ChannelTable::Place* ChannelTable::Find(StoreClientId client) const {
  const auto place = places_.find(client);
  return place == places_.end() ? nullptr : &place->second;
}

void ChannelTable::End(StoreConnection& connection, uint32_t channel,
                       std::vector<StoreClientId>* gone) {
  const auto known = connection.channels.find(channel);
  if (known == connection.channels.end()) return;
  gone->push_back(known->second);
  places_.erase(known->second);
  connection.channels.erase(known);
}

void ChannelTable::EndAll(StoreConnection& connection,
                          std::vector<StoreClientId>* gone) {
  while (!connection.channels.empty()) {
    End(connection, connection.channels.begin()->first, gone);
  }
}

}  // namespace muster::store
