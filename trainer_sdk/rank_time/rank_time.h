#ifndef MUSTER_TRAINER_SDK_RANK_TIME_RANK_TIME_H_
#define MUSTER_TRAINER_SDK_RANK_TIME_RANK_TIME_H_

#include <chrono>
#include <mutex>
#include <optional>

#include "base/time.h"

namespace muster {

// How a process has spent its time since its first collective began.
struct RankTimes {
  // Time during which no collective of the process was in progress: its own
  // work.
  Duration own = Duration::zero();
  // Time during which at least one collective was in progress: transfer, and
  // waiting for later ranks.
  Duration blocked = Duration::zero();
  // The part of the time that the program declared as waiting for data
  // (DataWait).
  Duration data = Duration::zero();
};

// Measures RankTimes of one process. In a synchronous training all ranks need
// the same time for a step, and the ranks that arrive early at a collective
// wait there for the last one. So the slow rank is the one with the most own
// time, although its steps are as long as those of the others. Communication
// that overlaps with the backward pass counts as blocked on every rank, and
// changes nothing in this comparison.
//
// Thread-safe. A call takes one uncontended lock, allocates nothing and makes
// no system call.
class RankTime {
 public:
  // The interval of reports in a process that reports no steps.
  static constexpr Duration kReportInterval = std::chrono::milliseconds(500);
  // If the process has reported a step within this time, Exit requests no
  // report: reports at the ends of steps compare ranks at the same points.
  static constexpr Duration kStepInterval = std::chrono::minutes(1);

  // The measurement of this process.
  static RankTime& Process();

  // A collective begins, or ends, at `now`. Calls from several threads may be
  // nested in any way. Exit returns whether the process should now report.
  void Enter(Instant now);
  bool Exit(Instant now);

  // The program has waited for its input data for this time.
  void AddDataWait(Duration waited);

  // Ends the measurement for good: the process uses operations whose times say
  // nothing about its speed. These are operations on a device, which return
  // before they are complete, and messages between two ranks, as between the
  // stages of a pipeline, which have different amounts of work.
  void Stop();

  // The times until `now`; nullopt: no collective has begun, or Stop was
  // called. TakeAtStep is called for the report of a finished step.
  std::optional<RankTimes> Read(Instant now) const;
  std::optional<RankTimes> TakeAtStep(Instant now);

 private:
  void Advance(Instant now);  // the caller holds mutex_

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  RankTimes times_;              // until last_
  std::optional<Instant> last_;  // newest Enter or Exit; nullopt: none yet
  int in_progress_ = 0;          // number of collectives in progress
  bool stopped_ = false;
  Instant report_at_;
};

// While an object of this class lives, its thread waits for input data:
//
//   {
//     DataWait wait;
//     batch = loader.Next();
//   }
//
// With it, `launch status` tells a rank whose data are slow from a rank whose
// computation is slow.
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
