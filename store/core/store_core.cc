#include "store/core/store_core.h"

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/little_endian.h"
#include "store/wire/request.h"

namespace muster::store {
namespace {

// Approximate memory of a key, queue or element in addition to its bytes: a map
// node with two strings, and the allocator's overhead.
constexpr size_t kBytesPerEntry = 128;

// Approximate memory of a queue in addition to its name and elements: an empty
// deque allocates a block of 512 bytes.
constexpr size_t kBytesPerQueue = 768;

// Limit of the bytes that one change of a key sends to the clients that watch
// the key. Each watching client gets the old and the new value. A client whose
// notification would exceed the limit is disconnected instead.
constexpr size_t kMaxToldBytes = size_t{64} << 20;

size_t Cost(std::string_view key, std::string_view value) {
  return kBytesPerEntry + key.size() + value.size();
}

// Parses the number at the start of `value` in the same way as PyTorch's
// server; nullopt if there is none.
std::optional<int64_t> NumberIn(const std::string& value) {
  errno = 0;
  char* end = nullptr;
  const int64_t number = std::strtoll(value.c_str(), &end, 10);
  if (end == value.c_str() || errno == ERANGE) return std::nullopt;
  return number;
}

}  // namespace

size_t StoreCore::bytes() const {
  return stored_bytes_ + offers_.bytes() + waits_.bytes() + barriers_.bytes() +
         watches_.bytes();
}

size_t StoreCore::Growth(std::string_view key, size_t size) const {
  const auto entry = values_.find(key);
  if (entry == values_.end()) return kBytesPerEntry + key.size() + size;
  const size_t before = entry->second.size();
  return size > before ? size - before : 0;
}

bool StoreCore::HasRoom(StoreClientId client, const StoreRequest& request,
                        size_t more, StoreEffects* effects) {
  if (more <= max_bytes_ && bytes() <= max_bytes_ - more) return true;
  effects->AddClose(
      client, absl::StrCat("the store is full: ", CommandName(request.command),
                           " needs ", more, " bytes more, and ", bytes(),
                           " of ", max_bytes_, " are taken"));
  return false;
}

StoreCore::There StoreCore::Find(std::string_view key) const {
  if (values_.find(key) != values_.end()) return There::kAsKey;
  // For clients, an empty queue does not exist. No check of the size is needed,
  // because a queue is erased when it becomes empty.
  return queues_.find(key) == queues_.end() ? There::kNo : There::kAsQueue;
}

void StoreCore::TellWatchers(uint8_t what, std::string_view key,
                             std::string_view before, std::string_view now,
                             StoreEffects* effects) {
  size_t told = 0;
  for (const StoreClientId watcher : watches_.WatchersOf(key)) {
    told += key.size() + before.size() + now.size();
    if (told > kMaxToldBytes) {
      effects->AddClose(watcher, "too much to tell to all who watch a key");
      continue;
    }
    std::string* out = effects->AddReply(watcher);
    AppendInteger(what, out);
    AppendString(key, out);
    AppendString(before, out);
    AppendString(now, out);
  }
}

void StoreCore::Put(std::string_view key, std::string value,
                    StoreEffects* effects) {
  auto entry = values_.find(key);
  const bool created = entry == values_.end();
  if (created) {
    stored_bytes_ += Cost(key, value);
    entry = values_.emplace(std::string(key), std::move(value)).first;
    value.clear();
  } else {
    stored_bytes_ += value.size();
    stored_bytes_ -= entry->second.size();
    std::swap(entry->second, value);
  }
  if (!watches_.empty()) {
    TellWatchers(created ? kStoreKeyCreated : kStoreKeyUpdated, entry->first,
                 value, entry->second, effects);
  }
  // Clients wait only for keys that do not exist, so changing an existing key
  // wakes no client.
  if (!created || waits_.empty()) return;
  for (const StoreClientId waiter : waits_.Ready(key)) {
    AppendInteger(kStoreStopWaiting, effects->AddReply(waiter));
  }
}

void StoreCore::CompareSet(StoreClientId client, const StoreRequest& request,
                           StoreEffects* effects) {
  const auto entry = values_.find(request.key);
  std::string_view current = request.expected;
  const bool set = entry == values_.end() ? request.expected.empty()
                                          : entry->second == request.expected;
  if (set) {
    if (!HasRoom(client, request, Growth(request.key, request.value.size()),
                 effects)) {
      return;
    }
    current = request.value;
  } else if (entry != values_.end()) {
    current = entry->second;
  }
  AppendString(current, effects->AddReply(client));
  if (set) Put(request.key, std::string(request.value), effects);
}

std::optional<int64_t> StoreCore::Increase(StoreClientId client,
                                           const StoreRequest& request,
                                           int64_t amount, size_t beside,
                                           StoreEffects* effects) {
  const auto entry = values_.find(request.key);
  int64_t sum = amount;
  if (entry != values_.end()) {
    const std::optional<int64_t> before = NumberIn(entry->second);
    if (!before || __builtin_add_overflow(*before, amount, &sum)) {
      effects->AddClose(client,
                        absl::StrCat(CommandName(request.command),
                                     before ? " beyond 64 bits"
                                            : " to what is no decimal number"));
      return std::nullopt;
    }
  }
  std::string digits = absl::StrCat(sum);
  const size_t more = Growth(request.key, digits.size()) + beside;
  if (!HasRoom(client, request, more, effects)) return std::nullopt;
  Put(request.key, std::move(digits), effects);
  return sum;
}

void StoreCore::Add(StoreClientId client, const StoreRequest& request,
                    StoreEffects* effects) {
  const auto sum = Increase(client, request, request.number, 0, effects);
  if (sum) AppendInteger(*sum, effects->AddReply(client));
}

void StoreCore::Wait(StoreClientId client, const StoreRequest& request,
                     StoreEffects* effects) {
  // A client has at most one pending WAIT: its second WAIT replaces the first.
  DropWait(client, effects);
  // In PyTorch, a blocking pop is a WAIT for one queue, followed by a pop that
  // must find an element. So a WAIT for a single queue ends only if the queue
  // has an element that is not reserved for another client.
  const bool pops =
      request.keys.size() == 1 && Find(request.keys[0]) == There::kAsQueue;
  auto kind = StoreEffects::Kind::kReply;
  std::vector<std::string_view> missing;
  size_t cost = 0;
  for (const std::string_view key : request.keys) {
    if (pops ? HasSpare(key) : Find(key) != There::kNo) continue;
    missing.push_back(key);
    cost += WaitingList::kBytesPerKey + key.size();
  }
  if (!missing.empty()) {
    if (HasRoom(client, request, cost, effects)) waits_.Add(client, missing);
    return;
  }
  if (pops) {
    const std::string_view queue = request.keys[0];
    cost = OfferList::kBytesPerOffer + queue.size();
    if (!HasRoom(client, request, cost, effects)) return;
    kind = StoreEffects::Kind::kReplyToOne;
    offers_.Add(client, queue);
  }
  AppendInteger(kStoreStopWaiting, effects->AddReply(client, kind));
}

void StoreCore::Delete(StoreClientId client, const StoreRequest& request,
                       StoreEffects* effects) {
  const auto entry = values_.find(request.key);
  const bool there = entry != values_.end();
  if (there) {
    if (!watches_.empty()) {
      TellWatchers(kStoreKeyDeleted, request.key, entry->second, "", effects);
    }
    stored_bytes_ -= Cost(entry->first, entry->second);
    values_.erase(entry);
  }
  AppendInteger<int64_t>(there ? 1 : 0, effects->AddReply(client));
}

void StoreCore::Append(StoreClientId client, const StoreRequest& request,
                       StoreEffects* effects) {
  const auto entry = values_.find(request.key);
  const size_t before = entry == values_.end() ? 0 : entry->second.size();
  if (before + request.value.size() > kMaxStoreValueBytes) {
    effects->AddClose(
        client, absl::StrCat("APPEND would make a value of ",
                             before + request.value.size(), " bytes; at most ",
                             kMaxStoreValueBytes));
    return;
  }
  const size_t more = Growth(request.key, before + request.value.size());
  if (!HasRoom(client, request, more, effects)) return;
  if (entry == values_.end() || !watches_.empty()) {
    std::string whole = entry == values_.end() ? "" : entry->second;
    whole.append(request.value);
    Put(request.key, std::move(whole), effects);
    return;
  }
  // Append in place, because appending n pieces must not cost O(n^2).
  entry->second.append(request.value);
  stored_bytes_ += request.value.size();
}

void StoreCore::MultiGet(StoreClientId client, const StoreRequest& request,
                         StoreEffects* effects) {
  std::vector<std::string_view> found;
  found.reserve(request.keys.size());
  size_t size = 0;
  for (const std::string_view key : request.keys) {
    const auto entry = values_.find(key);
    found.push_back(entry == values_.end() ? std::string_view()
                                           : std::string_view(entry->second));
    size += sizeof(uint64_t) + found.back().size();
  }
  if (size > kMaxStoreReplyBytes) {
    effects->AddClose(
        client, absl::StrCat("MULTI_GET asks for ", size, " bytes; at most ",
                             kMaxStoreReplyBytes, " in one reply"));
    return;
  }
  // Send no reply if the MULTI_GET has no keys: PyTorch's clients expect none.
  if (found.empty()) return;
  std::string* out = effects->AddReply(client);
  for (const std::string_view value : found) AppendString(value, out);
}

void StoreCore::MultiSet(StoreClientId client, const StoreRequest& request,
                         StoreEffects* effects) {
  size_t cost = 0;
  for (size_t i = 0; i < request.keys.size(); ++i) {
    cost += Growth(request.keys[i], request.values[i].size());
  }
  // If not all values fit into the memory limit, none is set.
  if (!HasRoom(client, request, cost, effects)) return;
  for (size_t i = 0; i < request.keys.size(); ++i) {
    Put(request.keys[i], std::string(request.values[i]), effects);
  }
}

bool StoreCore::HasSpare(std::string_view queue) const {
  const auto elements = queues_.find(queue);
  return elements != queues_.end() &&
         elements->second.size() > offers_.CountOf(queue);
}

void StoreCore::OfferToNext(std::string_view queue, StoreEffects* effects) {
  if (waits_.empty() || !HasSpare(queue)) return;
  const std::optional<StoreClientId> waiter = waits_.ReadyForOne(queue);
  if (!waiter) return;
  // Reserve an element for the client without a check of the memory limit: the
  // entry in `offers_` needs at most as much memory as the client's pending
  // WAIT, which ReadyForOne has just removed.
  static_assert(OfferList::kBytesPerOffer <= WaitingList::kBytesPerKey);
  offers_.Add(*waiter, queue);
  AppendInteger(kStoreStopWaiting,
                effects->AddReply(*waiter, StoreEffects::Kind::kReplyToOne));
}

void StoreCore::AgeOffers(StoreEffects* effects) {
  for (const std::string& queue : offers_.TakeOld()) {
    OfferToNext(queue, effects);
  }
}

void StoreCore::Push(StoreClientId client, const StoreRequest& request,
                     StoreEffects* effects) {
  const bool first = queues_.find(request.key) == queues_.end();
  size_t cost = kBytesPerEntry + request.value.size();
  if (first) cost += kBytesPerQueue + request.key.size();
  if (!HasRoom(client, request, cost, effects)) return;
  auto queue = queues_.find(request.key);
  if (first) {
    queue = queues_.emplace(std::string(request.key), std::deque<std::string>())
                .first;
  }
  queue->second.emplace_back(request.value);
  stored_bytes_ += cost;
  OfferToNext(queue->first, effects);
}

void StoreCore::Pop(StoreClientId client, const StoreRequest& request,
                    StoreEffects* effects) {
  std::string* out = effects->AddReply(client);
  const auto queue = queues_.find(request.key);
  if (queue == queues_.end()) {
    AppendInteger<int64_t>(0, out);
    return;
  }
  AppendInteger<int64_t>(queue->second.size(), out);
  AppendString(queue->second.front(), out);
  stored_bytes_ -= kBytesPerEntry + queue->second.front().size();
  queue->second.pop_front();
  if (queue->second.empty()) {
    stored_bytes_ -= kBytesPerQueue + queue->first.size();
    queues_.erase(queue);
  }
}

void StoreCore::ListKeys(StoreClientId client, StoreEffects* effects) {
  size_t size = sizeof(int64_t);
  for (const auto& [key, value] : values_) {
    size += sizeof(uint64_t) + key.size();
  }
  if (size > kMaxStoreReplyBytes) {
    effects->AddClose(
        client, absl::StrCat("LIST_KEYS would take ", size, " bytes; at most ",
                             kMaxStoreReplyBytes));
    return;
  }
  std::string* out = effects->AddReply(client);
  AppendInteger<int64_t>(values_.size(), out);
  for (const auto& [key, value] : values_) AppendString(key, out);
}

void StoreCore::Barrier(StoreClientId client, const StoreRequest& request,
                        StoreEffects* effects) {
  DropWait(client, effects);
  const size_t cost = BarrierList::kBytesPerClient + request.key.size();
  const auto count = Increase(client, request, 1, cost, effects);
  if (!count) return;
  barriers_.Add(client, request.key, request.number);
  for (const StoreClientId released : barriers_.Reached(request.key, *count)) {
    AppendInteger(kStoreStopWaiting, effects->AddReply(released));
  }
}

void StoreCore::Watch(StoreClientId client, const StoreRequest& request,
                      StoreEffects* effects) {
  const size_t cost = WatchList::kBytesPerWatch + 2 * request.key.size();
  if (!HasRoom(client, request, cost, effects)) return;
  watches_.Add(client, request.key);
  AppendInteger(kStoreWatchRegistered, effects->AddReply(client));
}

void StoreCore::DropWait(StoreClientId client, StoreEffects* effects) {
  waits_.Remove(client);
  const std::optional<std::string> barrier = barriers_.Remove(client);
  if (!barrier) return;
  // The client has given up waiting at the barrier, so it must no longer count
  // among the clients that have arrived there. Otherwise a second attempt would
  // count the client twice.
  const auto entry = values_.find(*barrier);
  if (entry == values_.end()) return;
  const std::optional<int64_t> count = NumberIn(entry->second);
  if (count && *count > 0) Put(*barrier, absl::StrCat(*count - 1), effects);
}

void StoreCore::Forget(StoreClientId client, StoreEffects* effects) {
  DropWait(client, effects);
  watches_.Remove(client);
  const std::optional<std::string> offered = offers_.Take(client);
  if (offered) OfferToNext(*offered, effects);
}

void StoreCore::Apply(StoreClientId client, const StoreRequest& request,
                      StoreEffects* effects) {
  const std::optional<std::string> offered = offers_.Take(client);
  // The client may have an offer (a queue element reserved for it). Any request
  // except the pop of this element ends the offer. Then the element is offered
  // to another client before the request is handled. Otherwise a client that
  // sends one WAIT after another would keep the element.
  const bool comes =
      request.command == StoreCommand::kQueuePop && request.key == offered;
  if (offered && !comes) OfferToNext(*offered, effects);
  Perform(client, request, effects);
}

void StoreCore::Perform(StoreClientId client, const StoreRequest& request,
                        StoreEffects* effects) {
  switch (request.command) {
    case StoreCommand::kValidate:
      break;
    case StoreCommand::kSet:
      if (HasRoom(client, request, Growth(request.key, request.value.size()),
                  effects)) {
        Put(request.key, std::string(request.value), effects);
      }
      break;
    case StoreCommand::kCompareSet:
      CompareSet(client, request, effects);
      break;
    case StoreCommand::kGet: {
      const auto entry = values_.find(request.key);
      AppendString(entry == values_.end() ? std::string_view()
                                          : std::string_view(entry->second),
                   effects->AddReply(client));
      break;
    }
    case StoreCommand::kAdd:
      Add(client, request, effects);
      break;
    case StoreCommand::kCheck: {
      bool all = true;
      for (const std::string_view key : request.keys) {
        all = all && Find(key) != There::kNo;
      }
      AppendInteger(all ? kStoreReady : kStoreNotReady,
                    effects->AddReply(client));
      break;
    }
    case StoreCommand::kWait:
      Wait(client, request, effects);
      break;
    case StoreCommand::kNumKeys:
      AppendInteger<int64_t>(values_.size(), effects->AddReply(client));
      break;
    case StoreCommand::kDelete:
      Delete(client, request, effects);
      break;
    case StoreCommand::kAppend:
      Append(client, request, effects);
      break;
    case StoreCommand::kMultiGet:
      MultiGet(client, request, effects);
      break;
    case StoreCommand::kMultiSet:
      MultiSet(client, request, effects);
      break;
    case StoreCommand::kCancelWait:
      DropWait(client, effects);
      AppendInteger(kStoreWaitCanceled, effects->AddReply(client));
      break;
    case StoreCommand::kPing:
      AppendInteger(static_cast<uint32_t>(request.number),
                    effects->AddReply(client));
      break;
    case StoreCommand::kQueuePush:
      Push(client, request, effects);
      break;
    case StoreCommand::kQueuePop:
      Pop(client, request, effects);
      break;
    case StoreCommand::kQueueLen: {
      const auto queue = queues_.find(request.key);
      AppendInteger<int64_t>(queue == queues_.end() ? 0 : queue->second.size(),
                             effects->AddReply(client));
      break;
    }
    case StoreCommand::kListKeys:
      ListKeys(client, effects);
      break;
    case StoreCommand::kBarrier:
      Barrier(client, request, effects);
      break;
    case StoreCommand::kWatchKey:
      Watch(client, request, effects);
      break;
    case StoreCommand::kRelay:
      effects->AddClose(client, "RELAY inside a relay's frames");
      break;
  }
}

}  // namespace muster::store
