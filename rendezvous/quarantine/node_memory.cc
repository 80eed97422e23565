#include "rendezvous/quarantine/node_memory.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace muster::rendezvous {
namespace {

// A fault is forgotten once its weight has halved this many times.
constexpr int kForgottenAfter = 7;

// Returns the fraction of a fault's weight that is left when the fault has this
// age.
double Remaining(Duration age) {
  const double age_s = std::max(ToSeconds(age), 0.0);
  return std::exp2(-age_s / ToSeconds(NodeMemory::kHalfLife));
}

// Returns `text` as one line without control characters, cut to kMaxFaultBytes,
// because the text becomes an environment variable of the command of
// --on-quarantine.
std::string Line(std::string text) {
  if (text.size() > kMaxFaultBytes) text.resize(kMaxFaultBytes);
  for (char& c : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  return text;
}

// Whether two faults have the same job and kind, and the same signature or
// text. If such faults occur on two machines, the machines are not the cause.
bool IsAlike(const HostFault& a, const HostFault& b) {
  if (a.run_id != b.run_id || a.kind != b.kind) return false;
  if (a.kind == FaultKind::kWorker) return a.signature == b.signature;
  return a.kind == FaultKind::kCheck && a.text == b.text;
}

bool IsSameReport(const HostFault& a, const HostFault& b) {
  return a.ordinal != 0 && a.ordinal == b.ordinal &&
         a.incarnation == b.incarnation;
}

}  // namespace

double NodeMemory::WeightOf(FaultKind kind) {
  switch (kind) {
    case FaultKind::kWorker:
    case FaultKind::kLost:
    case FaultKind::kCheck:
      return 1;
    case FaultKind::kXid:
      return 1.5;
    case FaultKind::kStraggler:
      return 0.5;
  }
  return 0;
}

double NodeMemory::ScoreOf(const Host& host, Duration now) {
  double score = 0;
  std::map<int, double> by_rank;
  for (const Fault& fault : host.faults) {
    if (fault.is_void) continue;
    const double weight =
        WeightOf(fault.fault.kind) * Remaining(now - fault.when);
    if (fault.fault.rank < 0) {
      score += weight;
    } else {
      by_rank[fault.fault.rank] += weight;
    }
  }
  for (const auto& [rank, sum] : by_rank) {
    score += std::min(sum, kMaxOfOneRank);
  }
  return score;
}

HostJudgement NodeMemory::JudgementOf(const Host& host, Duration now) {
  HostJudgement judgement{.state = host.state, .score = ScoreOf(host, now)};
  if (host.state == HostState::kBanned || host.state == HostState::kFreed) {
    judgement.reason = host.order;
    return judgement;
  }
  for (const Fault& fault : host.faults) {
    if (!fault.is_void) judgement.reason = fault.fault.text;
  }
  return judgement;
}

std::vector<NodeMemory::Change> NodeMemory::Record(Duration now, int nodes,
                                                   HostFault fault) {
  const HostView before = View(now);
  fault.text = Line(std::move(fault.text));
  Host& host = hosts_[fault.host];
  host.key = fault.host;
  const bool is_known = std::ranges::any_of(host.faults, [&](const Fault& one) {
    return IsSameReport(one.fault, fault);
  });
  if (is_known) return {};
  host.faults.push_back({.fault = fault, .when = now});
  if (host.faults.size() > kMaxFaults) host.faults.erase(host.faults.begin());
  Acquit(fault);
  Judge(now, nodes);
  Bound(now);
  return ChangesSince(before, now);
}

void NodeMemory::Acquit(const HostFault& fault) {
  std::vector<Fault*> alike;
  bool is_elsewhere = false;
  for (auto& [key, host] : hosts_) {
    for (Fault& one : host.faults) {
      if (!IsAlike(one.fault, fault)) continue;
      is_elsewhere = is_elsewhere || key != fault.host;
      alike.push_back(&one);
    }
  }
  if (!is_elsewhere) return;
  for (Fault* const one : alike) one->is_void = true;
}

std::vector<NodeMemory::Change> NodeMemory::Refresh(Duration now, int nodes) {
  const HostView before = View(now);
  Judge(now, nodes);
  Bound(now);
  return ChangesSince(before, now);
}

bool NodeMemory::IsShown(const Host& host, Duration now) const {
  return quarantine_ == Quarantine::kOff && host.state == HostState::kHealthy &&
         ScoreOf(host, now) >= kSuspectAt;
}

void NodeMemory::Trust() {
  for (auto& [key, host] : hosts_) {
    if (host.state == HostState::kSuspected ||
        host.state == HostState::kQuarantined) {
      host.state = HostState::kHealthy;
    }
  }
}

void NodeMemory::Judge(Duration now, int nodes) {
  if (quarantine_ == Quarantine::kOff) return;
  int taken = 0;
  std::vector<std::pair<double, Host*>> due;
  for (auto& [key, host] : hosts_) {
    if (host.state == HostState::kBanned) continue;
    const double score = ScoreOf(host, now);
    if (host.state == HostState::kQuarantined && score >= kReleaseAt) {
      ++taken;
      continue;
    }
    if (score >= kQuarantineAt) due.emplace_back(-score, &host);
    if (score >= kSuspectAt) {
      host.state = HostState::kSuspected;
    } else if (host.state != HostState::kFreed) {
      host.state = HostState::kHealthy;
    }
  }
  std::ranges::stable_sort(due, {}, [](const auto& one) { return one.first; });
  const int most = std::max(nodes / kShare, 1);
  for (const auto& [negative_score, host] : due) {
    if (taken >= most) return;
    host->state = HostState::kQuarantined;
    ++taken;
  }
}

void NodeMemory::Bound(Duration now) {
  std::vector<std::pair<double, HostKey>> by_score;
  for (auto it = hosts_.begin(); it != hosts_.end();) {
    Host& host = it->second;
    std::erase_if(host.faults, [&](const Fault& fault) {
      return now - fault.when > kHalfLife * kForgottenAfter;
    });
    const bool is_old = now - host.ordered_at > kHalfLife * kForgottenAfter;
    const bool is_empty =
        host.faults.empty() && (host.state == HostState::kHealthy ||
                                (host.state == HostState::kFreed && is_old));
    if (is_empty) {
      it = hosts_.erase(it);
      continue;
    }
    if (host.state != HostState::kBanned) {
      by_score.emplace_back(ScoreOf(host, now), it->first);
    }
    ++it;
  }
  std::ranges::sort(by_score);
  for (const auto& [score, key] : by_score) {
    if (hosts_.size() <= kMaxHosts) return;
    hosts_.erase(key);
  }
}

std::optional<Duration> NodeMemory::NextChange(Duration now) const {
  std::optional<Duration> next;
  for (const auto& [key, host] : hosts_) {
    const bool is_quarantined = host.state == HostState::kQuarantined;
    if (!is_quarantined && host.state != HostState::kSuspected &&
        !IsShown(host, now)) {
      continue;
    }
    const double bound = is_quarantined ? kReleaseAt : kSuspectAt;
    // The minimum number of half-lives until the score has fallen to `bound`.
    // Normally the score halves every kHalfLife. But while the weights of one
    // rank's faults add up to more than kMaxOfOneRank, these faults count as
    // kMaxOfOneRank, so the score falls more slowly.
    const double halvings =
        std::max(std::log2(ScoreOf(host, now) / bound), 0.0);
    const Duration after =
        std::chrono::duration_cast<Duration>(kHalfLife * halvings) +
        std::chrono::seconds(1);
    next = std::min(next.value_or(now + after), now + after);
  }
  return next;
}

absl::Status NodeMemory::Free(Duration now, const std::string& host,
                              const std::string& by) {
  bool is_known = false;
  for (auto& [key, one] : hosts_) {
    if (key.host != host) continue;
    is_known = true;
    one.state = HostState::kFreed;
    // The faults are kept, because an agent may report them again.
    for (Fault& fault : one.faults) fault.is_void = true;
    one.ordered_at = now;
    one.order = Line(absl::StrCat("freed", by.empty() ? "" : " by ", by));
  }
  if (is_known) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("no fault of a host ", host,
                                          " is remembered, nor is it banned"));
}

absl::Status NodeMemory::Ban(Duration now, const std::string& host,
                             const std::string& reason) {
  const auto banned = std::ranges::count_if(hosts_, [](const auto& entry) {
    return entry.second.state == HostState::kBanned;
  });
  const HostKey key{.host = host, .ip = ""};
  const auto known = hosts_.find(key);
  const bool is_new =
      known == hosts_.end() || known->second.state != HostState::kBanned;
  if (is_new && static_cast<size_t>(banned) >= kMaxBans) {
    return absl::ResourceExhaustedError(
        absl::StrCat(kMaxBans, " hosts are banned already; free one"));
  }
  Host& one = hosts_[key];
  one.key = key;
  one.state = HostState::kBanned;
  one.ordered_at = now;
  one.order = Line(reason);
  Bound(now);
  return absl::OkStatus();
}

HostView NodeMemory::View(Duration now) const {
  HostView view;
  for (const auto& [key, host] : hosts_) {
    const bool is_trusted =
        host.state == HostState::kHealthy || host.state == HostState::kFreed;
    if (is_trusted && !IsShown(host, now)) continue;
    view.emplace(key, JudgementOf(host, now));
  }
  return view;
}

std::vector<HostStatus> NodeMemory::List(Duration now) const {
  std::vector<HostStatus> list;
  for (const auto& [key, host] : hosts_) {
    HostStatus status{.key = key, .judgement = JudgementOf(host, now)};
    Duration newest = host.ordered_at;
    for (const Fault& fault : host.faults) {
      if (fault.is_void) continue;
      ++status.faults;
      status.run_id = fault.fault.run_id;
      newest = std::max(newest, fault.when);
    }
    status.age = std::max(now - newest, Duration::zero());
    // Do not list healthy machines whose faults are all void, that is, count
    // against no machine.
    if (status.faults == 0 && host.state == HostState::kHealthy) continue;
    list.push_back(std::move(status));
  }
  std::ranges::stable_sort(list, [](const HostStatus& a, const HostStatus& b) {
    const bool a_banned = a.judgement.state == HostState::kBanned;
    const bool b_banned = b.judgement.state == HostState::kBanned;
    if (a_banned != b_banned) return a_banned;
    return a.judgement.score > b.judgement.score;
  });
  return list;
}

int NodeMemory::quarantined() const {
  return static_cast<int>(std::ranges::count_if(hosts_, [](const auto& entry) {
    return entry.second.state == HostState::kQuarantined;
  }));
}

std::vector<NodeMemory::Change> NodeMemory::ChangesSince(const HostView& before,
                                                         Duration now) const {
  std::vector<Change> changes;
  const HostView after = View(now);
  for (const auto& [key, judgement] : after) {
    const auto old = before.find(key);
    const HostJudgement was =
        old == before.end() ? HostJudgement() : old->second;
    if (was.state != judgement.state) {
      changes.push_back({.key = key, .before = was, .after = judgement});
    }
  }
  for (const auto& [key, judgement] : before) {
    if (after.contains(key)) continue;
    changes.push_back({.key = key, .before = judgement, .after = {}});
  }
  return changes;
}

NodeMemory::Kept NodeMemory::Keep() const {
  Kept kept;
  for (const auto& [key, host] : hosts_) kept.hosts.push_back(host);
  return kept;
}

NodeMemory::Kept NodeMemory::KeepWorst(Duration now, size_t most) const {
  Kept kept = Keep();
  std::ranges::stable_sort(kept.hosts, std::greater(), [&](const Host& host) {
    Duration newest = host.ordered_at;
    for (const Fault& fault : host.faults) {
      newest = std::max(newest, fault.when);
    }
    return std::tuple(host.state == HostState::kBanned, ScoreOf(host, now),
                      newest);
  });
  if (kept.hosts.size() > most) kept.hosts.resize(most);
  return kept;
}

void NodeMemory::Restore(Kept kept) {
  hosts_.clear();
  for (Host& host : kept.hosts) {
    if (hosts_.size() == kMaxHosts) break;
    if (host.faults.size() > kMaxFaults) {
      host.faults.erase(host.faults.begin(),
                        host.faults.end() - static_cast<int>(kMaxFaults));
    }
    const HostKey key = host.key;
    hosts_.insert_or_assign(key, std::move(host));
  }
  if (quarantine_ == Quarantine::kOff) Trust();
}

}  // namespace muster::rendezvous
