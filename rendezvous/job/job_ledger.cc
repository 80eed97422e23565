#include "rendezvous/job/job_ledger.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <utility>

namespace muster::rendezvous {
namespace {

constexpr double kMicroseconds = 1e6;  // microseconds per second

double Microseconds(Duration time) {
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

void Add(const Incident& incident, int sign,
         std::array<JobTime::Sum, kLossCauses>& by_cause) {
  JobTime::Sum& sum = by_cause[static_cast<size_t>(incident.cause)];
  sum.incidents += sign;
  sum.pause_s += sign * incident.pause_s();
}

double PauseOf(const JobTime::HostLosses& losses) {
  return losses.total().pause_s;
}

// Returns the hosts with the longest pauses, at most kMaxLossHosts, longest
// first. Of hosts with the same pause, the first one in `losses` precedes.
std::vector<JobTime::HostLosses> Largest(
    std::vector<JobTime::HostLosses> losses) {
  std::ranges::stable_sort(losses, std::greater<>(), &PauseOf);
  if (losses.size() > kMaxLossHosts) losses.resize(kMaxLossHosts);
  return losses;
}

// Returns the element of `losses` for `host`, and appends it if needed.
JobTime::HostLosses& Of(const std::string& host,
                        std::vector<JobTime::HostLosses>& losses) {
  const auto found =
      std::ranges::find(losses, host, &JobTime::HostLosses::host);
  if (found != losses.end()) return *found;
  return losses.emplace_back(JobTime::HostLosses{.host = host});
}

}  // namespace

JobLedger::JobLedger(const JobTime& time)
    : older_(time.by_cause), older_by_host_(time.by_host) {
  for (size_t i = 0; i < kActivities; ++i) {
    spent_us_[i] = std::round(time.spent_s[i] * kMicroseconds);
  }
  for (const Incident& incident : time.newest) {
    rendezvous::Add(incident, -1, older_);
    const auto losses = std::ranges::find(older_by_host_, incident.host,
                                          &JobTime::HostLosses::host);
    if (losses != older_by_host_.end()) {
      rendezvous::Add(incident, -1, losses->by_cause);
    }
    newest_[incident.round] = {.is_counted = true, .incident = incident};
  }
}

void JobLedger::Age(const Incident& incident) {
  rendezvous::Add(incident, 1, older_);
  rendezvous::Add(incident, 1, Of(incident.host, older_by_host_).by_cause);
  older_by_host_ = Largest(std::move(older_by_host_));
}

JobLedger::Entry* JobLedger::EntryOf(int round) {
  const auto found = newest_.find(round);
  if (found != newest_.end()) return &found->second;
  if (newest_.size() == kMaxIncidents) {
    const auto oldest = newest_.begin();
    if (round < oldest->first) return nullptr;
    if (oldest->second.is_counted) {
      Age(oldest->second.incident);
    }
    newest_.erase(oldest);
  }
  Entry& entry = newest_[round];
  entry.incident.round = round;
  return &entry;
}

void JobLedger::Add(const NodeTime& told, int sign) {
  for (size_t i = 0; i < kActivities; ++i) {
    spent_us_[i] += sign * Microseconds(told.ledger.spent[i]);
  }
  for (const RoundLoss& loss : told.losses) {
    Entry* const entry = EntryOf(loss.round);
    if (entry == nullptr) continue;
    entry->incident.nodes += sign;
    entry->incident.lost_s += sign * ToSeconds(loss.lost);
  }
}

void JobLedger::Tell(const NodeTime& before, const NodeTime& told) {
  // The node's new times (`told`) replace its previous ones (`before`). So the
  // previous ones are subtracted from the totals, and the new ones are added.
  // But a loss (the time that the early end of one round cost) stays in the
  // totals if the new times do not contain it any more.
  NodeTime replaced = before;
  std::erase_if(replaced.losses, [&](const RoundLoss& loss) {
    return std::ranges::none_of(told.losses, [&](const RoundLoss& one) {
      return one.round == loss.round;
    });
  });
  Add(replaced, -1);
  Add(told, 1);
}

void JobLedger::Count(int round, LossCause cause, const std::string& host,
                      const std::string& why) {
  Entry* const entry = EntryOf(round);
  if (entry == nullptr || entry->is_counted) return;
  entry->is_counted = true;
  entry->incident.cause = cause;
  entry->incident.host = host;
  entry->incident.why = why;
}

JobTime JobLedger::Read(int round) const {
  JobTime time{.by_cause = older_};
  std::vector<JobTime::HostLosses> by_host = older_by_host_;
  for (size_t i = 0; i < kActivities; ++i) {
    time.spent_s[i] = spent_us_[i] / kMicroseconds;
  }
  for (const auto& [of_round, entry] : newest_) {
    if (!entry.is_counted && of_round >= round) continue;
    time.newest.push_back(entry.incident);
    rendezvous::Add(entry.incident, 1, time.by_cause);
    rendezvous::Add(entry.incident, 1,
                    Of(entry.incident.host, by_host).by_cause);
  }
  time.by_host = Largest(std::move(by_host));
  return time;
}

JobTime JobLedger::Without(const std::vector<const NodeTime*>& nodes,
                           int round) const {
  JobLedger rest = *this;
  for (const NodeTime* node : nodes) rest.Add(*node, -1);
  return rest.Read(round);
}

}  // namespace muster::rendezvous
