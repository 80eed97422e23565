#include "rendezvous/server/connection_pool.h"

#include <algorithm>

namespace muster::rendezvous {

ConnectionLimits LimitsFor(int descriptors) {
  const auto share = [&](int divisor, int most) {
    return std::clamp(descriptors / divisor, 4, most);
  };
  ConnectionLimits limits;
  limits.waiting = share(4, 1024);
  limits.on_trial = share(8, 512);
  limits.callers = share(8, 512);
  const int taken =
      static_cast<int>(limits.waiting + limits.on_trial + limits.callers);
  limits.nodes = std::max(descriptors - taken, 1);
  return limits;
}

void ConnectionPool::Opened(Instant now, Id id, const std::string& network) {
  connections_.emplace(
      id, Connection{.network = network, .opened = now, .since = now});
  silent_.Add(id, network);
}

void ConnectionPool::Spoke(Id id) {
  if (!silent_.Remove(id)) return;
  spoken_.Add(id, connections_.at(id).network);
}

void ConnectionPool::Proved(Id id) {
  if (!on_trial_.Remove(id)) return;
  callers_.Add(id, connections_.at(id).network);
}

void ConnectionPool::Joined(Id id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Withdraw(id);
  ++found->second.nodes;
}

void ConnectionPool::Left(Id id) {
  const auto found = connections_.find(id);
  if (found == connections_.end() || found->second.nodes == 0) return;
  if (--found->second.nodes > 0) return;
  callers_.Add(id, found->second.network);
}

void ConnectionPool::Ended(Id id) {
  Withdraw(id);
  connections_.erase(id);
}

void ConnectionPool::Withdraw(Id id) {
  for (ConnectionCrowd* crowd : {&silent_, &spoken_, &on_trial_, &callers_}) {
    crowd->Remove(id);
  }
}

void ConnectionPool::Close(Id id, Changes* changes) {
  changes->close.push_back(id);
  Ended(id);
}

void ConnectionPool::CloseExpired(Instant now, ConnectionCrowd* crowd,
                                  Changes* changes) {
  while (!crowd->empty() &&
         connections_.at(crowd->Oldest()).opened + kFirstMessageTimeout <=
             now) {
    Close(crowd->Oldest(), changes);
  }
}

std::optional<ConnectionPool::Id> ConnectionPool::TrialToClose(
    Instant now) const {
  const ConnectionCrowd::Share largest = on_trial_.Largest();
  if (largest.count > limits_.on_trial / 8) return largest.oldest;
  const Id oldest = on_trial_.Oldest();
  if (connections_.at(oldest).since + kFairTime <= now) return oldest;
  return std::nullopt;
}

ConnectionPool::Changes ConnectionPool::Apply(Instant now) {
  Changes changes;
  for (ConnectionCrowd* crowd : {&silent_, &spoken_, &on_trial_}) {
    CloseExpired(now, crowd, &changes);
  }
  while (!spoken_.empty()) {
    if (on_trial_.size() >= limits_.on_trial) {
      const std::optional<Id> victim = TrialToClose(now);
      if (!victim.has_value()) break;
      Close(*victim, &changes);
    }
    const Id id = spoken_.Oldest();
    spoken_.Remove(id);
    Connection& connection = connections_.at(id);
    connection.since = now;
    on_trial_.Add(id, connection.network);
    changes.hand_over.push_back(id);
  }
  while (silent_.size() + spoken_.size() > limits_.waiting) {
    const ConnectionCrowd& crowd = silent_.empty() ? spoken_ : silent_;
    Close(crowd.Largest().oldest, &changes);
  }
  while (callers_.size() > limits_.callers) {
    Close(callers_.Largest().oldest, &changes);
  }
  return changes;
}

bool ConnectionPool::MayAccept() const {
  return silent_.size() + spoken_.size() < limits_.waiting ||
         !silent_.empty() || spoken_.Largest().count > 1;
}

bool ConnectionPool::NeedsApply(Instant now) const {
  return callers_.size() > limits_.callers ||
         (!spoken_.empty() && (on_trial_.size() < limits_.on_trial ||
                               TrialToClose(now).has_value()));
}

std::optional<Instant> ConnectionPool::NextDeadline() const {
  std::optional<Instant> next;
  const auto take = [&](Instant due) {
    next = next.has_value() ? std::min(*next, due) : due;
  };
  for (const ConnectionCrowd* crowd : {&silent_, &spoken_, &on_trial_}) {
    if (crowd->empty()) continue;
    take(connections_.at(crowd->Oldest()).opened + kFirstMessageTimeout);
  }
  if (!spoken_.empty() && !on_trial_.empty()) {
    take(connections_.at(on_trial_.Oldest()).since + kFairTime);
  }
  return next;
}

}  // namespace muster::rendezvous
