#include "store/core/barrier_list.h"

#include "base/check.h"

namespace muster::store {

void BarrierList::Add(StoreClientId client, std::string_view key,
                      int64_t world) {
  MUSTER_CHECK(!Waits(client));
  auto queue = queues_.find(key);
  if (queue == queues_.end()) {
    queue = queues_.emplace(std::string(key), Queue()).first;
  }
  const Place place(world, next_ticket_++);
  queue->second.emplace(place, client);
  stands_.emplace(client, Stand{place, queue});
  bytes_ += kBytesPerClient + key.size();
}

std::vector<StoreClientId> BarrierList::Reached(std::string_view key,
                                                int64_t count) {
  std::vector<StoreClientId> released;
  const auto queue = queues_.find(key);
  if (queue == queues_.end()) return released;
  while (!queue->second.empty()) {
    const auto first = queue->second.begin();
    if (first->first.first > count) break;
    released.push_back(first->second);
    stands_.erase(first->second);
    bytes_ -= kBytesPerClient + key.size();
    queue->second.erase(first);
  }
  if (queue->second.empty()) queues_.erase(queue);
  return released;
}

std::optional<std::string> BarrierList::Remove(StoreClientId client) {
  const auto stand = stands_.find(client);
  if (stand == stands_.end()) return std::nullopt;
  const auto queue = stand->second.queue;
  std::string key = queue->first;
  queue->second.erase(stand->second.place);
  if (queue->second.empty()) queues_.erase(queue);
  stands_.erase(stand);
  bytes_ -= kBytesPerClient + key.size();
  return key;
}

}  // namespace muster::store
