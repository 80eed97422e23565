#ifndef MUSTER_TRAINER_SDK_RANK_TIME_RANK_TIME_H_
#define MUSTER_TRAINER_SDK_RANK_TIME_RANK_TIME_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/time.h"

namespace muster {

// How long the network limited the sends of a process to one process on another
// host.
struct LinkTime {
  int peer = 0;  // the receiver's rank in the world
  // Time for which the network limited the sends.
  Duration limited = Duration::zero();
};

// How a process has spent its time since its first collective began.
struct RankTimes {
  // Time during which no collective of the process was in progress: its own
  // work.
  Duration own = Duration::zero();
  // Time during which at least one collective was in progress. Includes the
  // transfer of data and the wait for ranks that begin the collective later.
  Duration blocked = Duration::zero();
  // The time that the program declared as waiting for input data (DataWait);
  // usually a part of `own`.
  Duration data = Duration::zero();
  // The links whose sends the network limited for the longest time, in
  // decreasing order; at most RankTime::kMaxLinks. Empty if the transport does
  // not measure this time.
  std::vector<LinkTime> links;
  int64_t sent = 0;  // bytes sent to other hosts, over all links
};

// Measures RankTimes of one process. In a synchronous training all ranks need
// the same time for a step: ranks that arrive early at a collective wait for
// the last rank. A rank's own time is the time in which it is not blocked in a
// collective. The slow rank is the rank with the most own time. Communication
// that overlaps with the backward pass counts as blocked on every rank, so the
// comparison stays valid.
//
// Thread-safe. A call takes one uncontended lock and makes no system call.
// Enter and Exit allocate nothing.
class RankTime {
 public:
  // The interval at which the RankTimes of a process are reported if the
  // process reports no training steps.
  static constexpr Duration kReportInterval = std::chrono::milliseconds(500);
  // If the process has reported a training step within this time, Exit does not
  // ask for a report. A program that reports its steps also reports its
  // RankTimes at the ends of steps. All ranks make these reports at the same
  // point of the training, so they are better for comparing ranks.
  static constexpr Duration kStepInterval = std::chrono::minutes(1);

  static constexpr size_t kMaxLinks = 8;

  // Returns the RankTime that measures this process.
  static RankTime& Process();

  // Enter reports that a collective begins at `now`, Exit that a collective
  // ends at `now`. Several threads may have collectives in progress at the same
  // time. Exit returns whether the process should report its times now.
  void Enter(Instant now);
  bool Exit(Instant now);

  // Reports that the program has waited for its input data for the time
  // `waited`.
  void AddDataWait(Duration waited);

  // Reports that `sent` bytes were sent to the rank `peer` of the world, and
  // that the network has limited these sends for the time `limited`. A RankTime
  // keeps 16 bytes for each rank of the world to which this process sends.
  void AddLinkTime(int peer, Duration limited, int64_t sent);

  // Ends the measurement permanently. Called if the process uses operations
  // whose times say nothing about its speed: operations on a device, which
  // return before they are complete, or messages between two ranks, which often
  // have different amounts of work, like the stages of a pipeline.
  void Stop();

  // Read and TakeAtStep return the times from the first collective until `now`;
  // nullopt if no collective has begun, or Stop was called. Call TakeAtStep
  // when the program reports a step: then Exit requests no report for
  // kStepInterval.
  std::optional<RankTimes> Read(Instant now) const;
  std::optional<RankTimes> TakeAtStep(Instant now);

 private:
  void Advance(Instant now);  // counts time until `now`; caller holds mutex_

  mutable std::mutex mutex_;
  // mutex_ guards the members from times_ to report_at_.
  RankTimes times_;              // times until last_; `links` is not used
  std::vector<LinkTime> links_;  // ordered by peer
  std::optional<Instant> last_;  // time of latest Enter or Exit; nullopt: none
  int in_progress_ = 0;          // number of collectives in progress
  bool stopped_ = false;
  Instant report_at_;
};

// An object of this class measures a wait of the program for input data. The
// wait lasts from the construction to the destruction of the object:
//
//   {
//     DataWait wait;
//     batch = loader.Next();
//   }
//
// `launch status` needs these times to say whether a slow rank waits for its
// data or computes slowly.
class DataWait {
 public:
  DataWait();
  ~DataWait();
  DataWait(const DataWait&) = delete;
  DataWait& operator=(const DataWait&) = delete;

 private:
  const Instant began_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_RANK_TIME_RANK_TIME_H_
