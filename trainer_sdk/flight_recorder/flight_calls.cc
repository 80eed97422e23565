#include "trainer_sdk/flight_recorder/flight_calls.h"

#include <algorithm>

#include "trainer_sdk/process_group/signature.h"

namespace muster {
namespace {

// Whether the operation needs the data of every rank on every rank.
bool NeedsAll(const OperationSignature& signature) {
  if (signature.counts_hash != 0) return false;
  switch (signature.kind) {
    case OperationKind::kAllReduce:
    case OperationKind::kReduceScatter:
    case OperationKind::kAllGather:
    case OperationKind::kAllToAll:
    case OperationKind::kBarrier:
    case OperationKind::kSplit:
      return true;
    default:
      return false;
  }
}

}  // namespace

FlightCalls::FlightCalls(const std::vector<FlightLog>& logs) {
  for (const FlightLog& log : logs) logs_[log.rank] = &log;
  for (const auto& [rank, log] : logs_) Collect(*log);
}

void FlightCalls::Collect(const FlightLog& log) {
  std::vector<FlightGroupKey>& keys = keys_[log.rank];
  keys = KeysOf(log);
  for (size_t i = 0; i < keys.size(); i++) {
    const FlightGroup& group = log.groups[i];
    groups_[keys[i]];
    std::map<int, int>& members = members_[keys[i]];
    if (group.members.empty()) members[group.rank] = log.rank;
    for (size_t j = members.size(); j < group.members.size(); j++) {
      members[static_cast<int>(j)] = group.members[j];
    }
    if (WasMadeAgain(log, static_cast<int>(i), group.made)) {
      replaced_.insert(keys[i]);
    }
  }
  for (const FlightRecord& record : log.records) {
    if (IsPointToPoint(record.signature.kind)) continue;
    groups_[keys[record.group]][record.signature.sequence].push_back(
        {&log, &record});
  }
}

const std::vector<FlightCall>& FlightCalls::With(
    const FlightLog& log, const FlightRecord& record) const {
  return groups_.at(GroupOf(log, record)).at(record.signature.sequence);
}

std::vector<int> FlightCalls::WhoLeft(const FlightLog& log,
                                      const FlightRecord& stuck,
                                      const FlightMoment& moment) const {
  // The cause of another failure may be a rank that had left and then died.
  if (!NeedsAll(stuck.signature) ||
      (stuck.ended != 0 &&
       stuck.status != absl::StatusCode::kDeadlineExceeded)) {
    return {};
  }
  std::vector<int> ranks;
  for (const FlightCall& call : With(log, stuck)) {
    const FlightRecord& own = *call.record;
    if (own.ended != 0 && own.status == absl::StatusCode::kOk &&
        !IsFresh(own.ended, moment) &&
        SameCollective(own.signature, stuck.signature)) {
      ranks.push_back(call.log->rank);
    }
  }
  return ranks;
}

std::vector<int> FlightCalls::PeersOf(const FlightLog& log,
                                      const FlightRecord& record) const {
  const std::map<int, int>& members = members_.at(GroupOf(log, record));
  std::vector<int> places = record.peers;
  if (record.signature.kind != OperationKind::kBatch) {
    places = {record.signature.root};
  } else if (places.empty()) {
    for (const auto& [place, member] : members) places.push_back(place);
  }
  std::vector<int> ranks;
  for (const int place : places) {
    const auto member = members.find(place);
    if (member != members.end()) ranks.push_back(member->second);
  }
  return ranks;
}

int FlightCalls::Messages(const FlightLog& log, const FlightLog& other,
                          const FlightGroupKey& key, uint64_t sequence) const {
  int messages = 0;
  for (const FlightRecord& candidate : log.records) {
    if (!IsPointToPoint(candidate.signature.kind) ||
        candidate.signature.sequence != sequence ||
        GroupOf(log, candidate) != key) {
      continue;
    }
    const std::vector<int> peers = PeersOf(log, candidate);
    messages += std::count(peers.begin(), peers.end(), other.rank) > 0;
  }
  return messages;
}

}  // namespace muster
