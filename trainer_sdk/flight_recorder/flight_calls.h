#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_CALLS_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_CALLS_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_groups.h"
#include "trainer_sdk/flight_recorder/flight_log.h"
#include "trainer_sdk/flight_recorder/flight_moment.h"

namespace muster {

struct FlightCall {
  const FlightLog* log;
  const FlightRecord* record;
};

// The logs of a job's ranks side by side: which of their records are one
// operation. Pure. The logs must outlive it.
class FlightCalls {
 public:
  // A group's collectives by number, with who called them.
  using OfGroup = std::map<uint64_t, std::vector<FlightCall>>;

  // At most one log of each rank.
  explicit FlightCalls(const std::vector<FlightLog>& logs);

  const std::map<int, const FlightLog*>& logs() const { return logs_; }
  const std::map<FlightGroupKey, OfGroup>& groups() const { return groups_; }
  // World ranks by rank in the group: all, or of the logs that there are.
  const std::map<int, int>& MembersOf(const FlightGroupKey& group) const {
    return members_.at(group);
  }
  // Whether some rank has made it again.
  bool WasReplaced(const FlightGroupKey& group) const {
    return replaced_.count(group) > 0;
  }
  const FlightGroupKey& GroupOf(const FlightLog& log,
                                const FlightRecord& record) const {
    return keys_.at(log.rank)[record.group];
  }

  // All ranks' calls of the collective `record` of `log`.
  const std::vector<FlightCall>& With(const FlightLog& log,
                                      const FlightRecord& record) const;

  // The other ranks that are done with the collective that `log` is stuck in,
  // and not just now, where that tells that it waits for nobody: they cannot
  // be before all have come to it. Empty for what some may be done with by
  // themselves, as a broadcast's root.
  std::vector<int> WhoLeft(const FlightLog& log, const FlightRecord& stuck,
                           const FlightMoment& moment) const;

  // The world ranks that `record`'s messages are with, as far as is known; of a
  // batch with many, everybody.
  std::vector<int> PeersOf(const FlightLog& log,
                           const FlightRecord& record) const;

  // How many messages or batches `log` has with `other` in a group, after its
  // collective of that number.
  int Messages(const FlightLog& log, const FlightLog& other,
               const FlightGroupKey& key, uint64_t sequence) const;

 private:
  void Collect(const FlightLog& log);

  std::map<int, const FlightLog*> logs_;
  std::map<int, std::vector<FlightGroupKey>> keys_;  // of each log's groups
  std::map<FlightGroupKey, OfGroup> groups_;
  std::set<FlightGroupKey> replaced_;
  std::map<FlightGroupKey, std::map<int, int>> members_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_CALLS_H_
