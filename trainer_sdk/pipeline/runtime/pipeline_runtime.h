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
  // The longest time that a message may take. The receiver's time begins at its
  // receive action in the schedule and ends when the data has arrived. The
  // sender's time begins at its send action and ends when the buffer may be
  // reused.
  Duration timeout = std::chrono::minutes(10);
};

// The times at which a computation began and ended; waiting for its input is
// not included.
struct MeasuredAction {
  Action action;
  Instant begin;
  Instant end;
};

// Executes a valid pipeline schedule with the stages of one rank, in any
// framework. Performs the rank's list of actions one after another on the
// caller's thread, while threads of the runtime transfer messages.
//
// An error breaks the pipeline permanently, on all ranks as soon as they can be
// notified; every later call fails with the first error. The error names the
// stage, the micro-batch and the peer:
//   DeadlineExceeded  a neighbour did not send or receive in time
//   Unavailable       a neighbour died
//   Aborted           another rank failed; gives the reason of that rank
// A stage's own errors are returned as well. Not thread-safe.
class PipelineRuntime {
 public:
  // Makes the runtime of this rank. Collective over `group`, with the same
  // schedule on every rank. Rank r of the group is rank r of the pipeline. If
  // the schedule has no sends and receives, they are added (AddCommunication).
  // `stages`: this rank's stages, which are the stages rank, rank + p, ... if
  // there are p ranks. The stages must outlive the runtime; `group` need not.
  //   InvalidArgument     the schedule is invalid, or is for another number of
  //                       ranks or stages
  //   FailedPrecondition  ranks have different schedules, or a stage's output
  //                       does not fit the next stage's input; the message
  //                       names both ranks or stages
  static absl::StatusOr<std::unique_ptr<PipelineRuntime>> Create(
      ProcessGroup& group, PipelineSchedule schedule,
      std::vector<PipelineStage*> stages, PipelineOptions options = {});

  ~PipelineRuntime();
  PipelineRuntime(const PipelineRuntime&) = delete;
  PipelineRuntime& operator=(const PipelineRuntime&) = delete;

  // Runs one training step: all micro-batches forward and backward. Collective
  // and blocking. The mean loss is the sum of the losses of the micro-batches,
  // divided by their number. The resulting gradients are the gradients of the
  // mean loss, multiplied by `factor`. Returns the mean loss, without `factor`,
  // on every rank.
  absl::StatusOr<double> Step(double factor = 1);

  // Runs all micro-batches forward only. Collective and blocking. Returns the
  // mean loss on every rank.
  absl::StatusOr<double> Evaluate();

  // The computations of this rank in the last Step, with their times, in order
  // of execution.
  const std::vector<MeasuredAction>& measured() const;

  // The schedule that is executed, with its sends and receives.
  const PipelineSchedule& schedule() const;
  // The number of buffers allocated so far for data between stages. The two
  // buffers of each channel to a neighbour are not counted. Buffers are reused.
  int stream_buffers() const;

 private:
  class Body;
  explicit PipelineRuntime(std::unique_ptr<Body> body);

  std::unique_ptr<Body> body_;
};

// Returns the timeline of the last Step, in nanoseconds from the start of its
// first pass. DrawSchedule and MeasuredCosts take such a timeline. Collective
// over `group`, which has the pipeline's ranks in order. The result is the same
// on all ranks. FailedPrecondition: no whole Step has been measured.
//
// The clocks of hosts differ. The function measures these differences with a
// few barriers and corrects the times. Times of different ranks are therefore
// only as exact as this measurement.
absl::StatusOr<PipelineTimeline> MeasuredTimeline(
    const PipelineRuntime& runtime, ProcessGroup& group);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_PIPELINE_RUNTIME_H_
