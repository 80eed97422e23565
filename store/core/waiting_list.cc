#include "store/core/waiting_list.h"

#include "base/check.h"

namespace muster::store {

void WaitingList::Add(StoreClientId client,
                      const std::vector<std::string_view>& keys) {
  MUSTER_CHECK(!keys.empty() && !Waits(client));
  Wait& wait = waits_[client];
  wait.ticket = next_ticket_++;
  for (const std::string_view key : keys) {
    auto queue = queues_.find(key);
    if (queue == queues_.end()) {
      queue = queues_.emplace(std::string(key), Queue()).first;
    }
    // A key that is named twice is awaited once. The view refers to the queue's
    // own key, which stays valid while a client waits there.
    if (wait.missing.emplace(queue->first, queue).second) {
      queue->second.emplace(wait.ticket, client);
      bytes_ += kBytesPerKey + key.size();
    }
  }
}

bool WaitingList::Saw(StoreClientId client, std::string_view key) {
  const auto wait = waits_.find(client);
  MUSTER_CHECK(wait != waits_.end() && wait->second.missing.erase(key) == 1);
  bytes_ -= kBytesPerKey + key.size();
  if (!wait->second.missing.empty()) return false;
  waits_.erase(wait);
  return true;
}

std::vector<StoreClientId> WaitingList::Ready(std::string_view key) {
  std::vector<StoreClientId> over;
  const auto queue = queues_.find(key);
  if (queue == queues_.end()) return over;
  for (const auto& [ticket, client] : queue->second) {
    if (Saw(client, queue->first)) over.push_back(client);
  }
  queues_.erase(queue);
  return over;
}

std::optional<StoreClientId> WaitingList::ReadyForOne(std::string_view key) {
  const auto queue = queues_.find(key);
  if (queue == queues_.end()) return std::nullopt;
  std::optional<StoreClientId> over;
  while (!over && !queue->second.empty()) {
    const auto first = queue->second.begin();
    const StoreClientId client = first->second;
    queue->second.erase(first);
    if (Saw(client, queue->first)) over = client;
  }
  if (queue->second.empty()) queues_.erase(queue);
  return over;
}

void WaitingList::Remove(StoreClientId client) {
  const auto wait = waits_.find(client);
  if (wait == waits_.end()) return;
  for (const auto& [key, queue] : wait->second.missing) {
    bytes_ -= kBytesPerKey + key.size();
    queue->second.erase(wait->second.ticket);
    if (queue->second.empty()) queues_.erase(queue);
  }
  waits_.erase(wait);
}

}  // namespace muster::store
