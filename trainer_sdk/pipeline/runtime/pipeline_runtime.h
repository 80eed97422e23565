#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_PIPELINE_RUNTIME_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_PIPELINE_RUNTIME_H_

#include <chrono>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/pipeline/runtime/pipeline_stage.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"
#include "trainer_sdk/pipeline/schedule/simulator.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

struct PipelineOptions {
  // The longest time for a message: for the receiver, from its receive action
  // in the schedule; for the sender, until the buffer may be reused.
  Duration timeout = std::chrono::minutes(10);
};

// The time of a computation, without its wait for input.
struct MeasuredAction {
  Action action;
  Instant begin;
  Instant end;
};

// Executes a valid pipeline schedule with the stages of one rank. It works with
// any framework and any schedule: it performs the rank's list of actions one
// after another on the caller's thread, while threads of its own transfer
// messages.
//
// An error breaks the pipeline for good, on all ranks as soon as they can be
// notified; every later call fails with the first error. It names the stage,
// the micro-batch and the peer:
//   DeadlineExceeded  a neighbour did not arrive in time
//   Unavailable       a neighbour died
//   Aborted           another rank failed: gives its reason
// A stage's own errors are returned as well. Not thread-safe.
class PipelineRuntime {
 public:
  // Collective over `group`, with the same schedule on every rank. Rank r of
  // the group is rank r of the pipeline. AddCommunication is applied to a
  // schedule without communication. `stages`: this rank's stages (stages rank,
  // rank + p, ...), which must outlive the runtime. `group` may be destroyed
  // earlier.
  //   InvalidArgument     the schedule is invalid, or is for another number
  //                       of ranks or stages
  //   FailedPrecondition  ranks have different schedules, or a stage's output
  //                       does not fit the next stage's input: names both
  static absl::StatusOr<std::unique_ptr<PipelineRuntime>> Create(
      ProcessGroup& group, PipelineSchedule schedule,
      std::vector<PipelineStage*> stages, PipelineOptions options = {});

  ~PipelineRuntime();
  PipelineRuntime(const PipelineRuntime&) = delete;
  PipelineRuntime& operator=(const PipelineRuntime&) = delete;

  // Collective and blocking: runs all micro-batches forward and backward. The
  // gradients are those of the mean loss times `factor`; each loss is divided
  // by the number of micro-batches. Returns the mean loss, without `factor`, on
  // every rank.
  absl::StatusOr<double> Step(double factor = 1);

  // Collective and blocking: forward only. Returns the mean loss on every rank.
  absl::StatusOr<double> Evaluate();

  // The computations of the last Step and their times, in order of execution.
  const std::vector<MeasuredAction>& measured() const;

  // The schedule including its communication.
  const PipelineSchedule& schedule() const;
  // The number of buffers allocated so far for data between stages, without the
  // two buffers of each channel to a neighbour. Buffers are reused.
  int stream_buffers() const;

 private:
  class Body;
  explicit PipelineRuntime(std::unique_ptr<Body> body);

  std::unique_ptr<Body> body_;
};

// The timeline of the last Step, in nanoseconds from the start of its first
// pass: input of DrawSchedule and MeasuredCosts. Collective over `group`, which
// has the pipeline's ranks in order. Call it after a Step. The result is the
// same on all ranks. Clocks of hosts may differ: their offsets are measured at
// the ends of a few barriers, whose accuracy limits comparisons between ranks.
absl::StatusOr<PipelineTimeline> MeasuredTimeline(
    const PipelineRuntime& runtime, ProcessGroup& group);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_PIPELINE_RUNTIME_H_
