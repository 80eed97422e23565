#include "store/core/watch_list.h"

namespace muster::store {

void WatchList::Add(StoreClientId client, std::string_view key) {
  if (!clients_[client].emplace(key).second) return;
  keys_[std::string(key)].insert(client);
  bytes_ += kBytesPerWatch + 2 * key.size();
}

void WatchList::Remove(StoreClientId client) {
  const auto watches = clients_.find(client);
  if (watches == clients_.end()) return;
  for (const std::string& key : watches->second) {
    const auto watched = keys_.find(key);
    watched->second.erase(client);
    if (watched->second.empty()) keys_.erase(watched);
    bytes_ -= kBytesPerWatch + 2 * key.size();
  }
  clients_.erase(watches);
}

const std::set<StoreClientId>& WatchList::WatchersOf(
    std::string_view key) const {
  static const std::set<StoreClientId> kNobody;
  const auto watched = keys_.find(key);
  return watched == keys_.end() ? kNobody : watched->second;
}

}  // namespace muster::store
