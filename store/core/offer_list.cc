#include "store/core/offer_list.h"

#include "base/check.h"

namespace muster::store {

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

}  // namespace muster::store
