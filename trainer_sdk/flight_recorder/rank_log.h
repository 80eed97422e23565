#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_RANK_LOG_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_RANK_LOG_H_

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_log.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {

// Builds the flight recorder log of one rank, for tests. The operation with
// sequence number n is called at the time 1000 + n, in seconds since 1970
// (UTC).
class RankLog {
 public:
  enum class State { kDone, kIn, kFailed, kQueued };

  RankLog(int rank, int world_size) {
    log_.rank = rank;
    log_.world_size = world_size;
    log_.host = "node" + std::to_string(rank);
    log_.pid = 100 + rank;
    std::vector<int> everybody(static_cast<size_t>(world_size));
    std::iota(everybody.begin(), everybody.end(), 0);
    log_.groups.push_back({"world", rank, world_size, everybody});
  }
  RankLog& Does(const Operation& operation, uint64_t sequence,
                State state = State::kDone, int group = 0) {
    FlightRecord record;
    record.number = log_.records.size() + 1;
    record.group = group;
    record.signature = SignatureOf(operation, sequence);
    const BatchPeers peers = BatchPeersOf(operation);
    record.peers.assign(peers.ranks.begin(), peers.ranks.begin() + peers.count);
    record.queued = record.started = 1000.0 + static_cast<double>(sequence);
    if (state != State::kIn) record.ended = record.started + 0.5;
    if (state == State::kQueued) record.started = record.ended = 0;
    if (state == State::kFailed) {
      record.status = absl::StatusCode::kDeadlineExceeded;
    }
    log_.records.push_back(record);
    log_.written = record.queued + 0.5;
    return *this;
  }
  RankLog& Group(const std::string& name, const std::vector<int>& members,
                 uint64_t birth = 0) {
    log_.groups.push_back({name, 0, static_cast<int>(members.size()), members,
                           birth, log_.written + 0.1});
    return *this;
  }
  RankLog& Says(const std::string& reason) {
    log_.reason = reason;
    return *this;
  }
  RankLog& IsAsked(const std::string& request) {
    log_.request = request;
    return *this;
  }
  RankLog& Closes() {
    log_.closed = true;
    return *this;
  }
  // An implicit conversion, so that a test can pass a RankLog to a function
  // that expects a FlightLog.
  operator FlightLog() const { return log_; }

 private:
  FlightLog log_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_RANK_LOG_H_
