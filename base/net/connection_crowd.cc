#include "base/net/connection_crowd.h"

namespace muster {

void ConnectionCrowd::Add(Id id, const std::string& network) {
  const auto share = by_network_.try_emplace(network).first;
  if (!share->second.empty()) by_size_.erase(&*share);
  share->second.insert(id);
  by_size_.insert(&*share);
  networks_.emplace(id, network);
}

bool ConnectionCrowd::Remove(Id id) {
  const auto found = networks_.find(id);
  if (found == networks_.end()) return false;
  const auto share = by_network_.find(found->second);
  by_size_.erase(&*share);
  share->second.erase(id);
  if (share->second.empty()) {
    by_network_.erase(share);
  } else {
    by_size_.insert(&*share);
  }
  networks_.erase(found);
  return true;
}

ConnectionCrowd::Share ConnectionCrowd::Largest() const {
  const std::set<Id>& ids = (*by_size_.rbegin())->second;
  return {.count = ids.size(), .oldest = *ids.begin()};
}

}  // namespace muster
