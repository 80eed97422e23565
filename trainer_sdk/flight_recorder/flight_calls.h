#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_CALLS_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_CALLS_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_log.h"
#include "trainer_sdk/flight_recorder/flight_moment.h"

namespace muster {

struct FlightCall {
  const FlightLog* log;
  const FlightRecord* record;
};

// Matches the logs of a job's ranks: which of their records belong to one
// operation. Pure. The logs must outlive this object.
class FlightCalls {
 public:
  // A group's collectives by sequence number, with the calls of each.
  using OfGroup = std::map<uint64_t, std::vector<FlightCall>>;

  // `logs`: at most one per rank.
  explicit FlightCalls(const std::vector<FlightLog>& logs);

  const std::map<int, const FlightLog*>& logs() const { return logs_; }
  const std::map<FlightGroupKey, OfGroup>& groups() const { return groups_; }
  // World ranks by rank in the group: of all members, or only of those with a
  // log if the members are unknown.
  const std::map<int, int>& MembersOf(const FlightGroupKey& group) const {
    return members_.at(group);
  }
  // Whether some rank has made the group again.
  bool WasReplaced(const FlightGroupKey& group) const {
    return replaced_.count(group) > 0;
  }
  const FlightGroupKey& GroupOf(const FlightLog& log,
                                const FlightRecord& record) const {
    return keys_.at(log.rank)[record.group];
  }

  // All ranks' calls of the same collective as `record` of `log`.
  const std::vector<FlightCall>& With(const FlightLog& log,
                                      const FlightRecord& record) const;

  // The other ranks that have finished the collective in which `log` is stuck,
  // not just now, if that proves that `log` waits for no rank: such a
  // collective cannot finish on any rank before all have called it. Empty for
  // collectives that some ranks can finish alone, such as the root of a
  // broadcast.
  std::vector<int> WhoLeft(const FlightLog& log, const FlightRecord& stuck,
                           const FlightMoment& moment) const;

  // The world ranks with which `record` exchanges messages, as far as is known;
  // for a batch with many peers, all ranks.
  std::vector<int> PeersOf(const FlightLog& log,
                           const FlightRecord& record) const;

  // The number of sends, receives and batches of `log` with `other` in a group
  // after the collective number `sequence`.
  int Messages(const FlightLog& log, const FlightLog& other,
               const FlightGroupKey& key, uint64_t sequence) const;

 private:
  void Collect(const FlightLog& log);

  std::map<int, const FlightLog*> logs_;
  // by rank: keys of its log's groups
  std::map<int, std::vector<FlightGroupKey>> keys_;
  std::map<FlightGroupKey, OfGroup> groups_;
  std::set<FlightGroupKey> replaced_;
  std::map<FlightGroupKey, std::map<int, int>> members_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_CALLS_H_
