#include "store/core/waiting_lists.h"

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
    // If a WAIT names a key twice, the second emplace fails, so the client
    // waits for the key once. `missing` holds a view of the key in queues_. The
    // view stays valid while any client waits for the key.
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

void OfferList::Add(StoreClientId client, std::string_view queue) {
  auto count = counts_.find(queue);
  if (count == counts_.end()) {
    count = counts_.emplace(std::string(queue), 0).first;
  }
  const bool added = offers_.emplace(client, Offer{count}).second;
  MUSTER_CHECK(added) << "a client has one wait, hence one offer";
  ++count->second;
  bytes_ += kBytesPerOffer + queue.size();
}

std::string OfferList::Remove(Offers::iterator* offer) {
  const Counts::iterator count = (*offer)->second.queue;
  *offer = offers_.erase(*offer);
  std::string queue = count->first;
  bytes_ -= kBytesPerOffer + queue.size();
  if (--count->second == 0) counts_.erase(count);
  return queue;
}

std::optional<std::string> OfferList::Take(StoreClientId client) {
  auto offer = offers_.find(client);
  if (offer == offers_.end()) return std::nullopt;
  return Remove(&offer);
}

std::vector<std::string> OfferList::TakeOld() {
  std::vector<std::string> queues;
  for (auto offer = offers_.begin(); offer != offers_.end();) {
    if (offer->second.old) {
      queues.push_back(Remove(&offer));
    } else {
      offer->second.old = true;
      ++offer;
    }
  }
  return queues;
}

size_t OfferList::CountOf(std::string_view queue) const {
  const auto count = counts_.find(queue);
  return count == counts_.end() ? 0 : count->second;
}

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
