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
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

struct PipelineOptions {
  // How long a message may take: for the receiver, from the place in the
  // schedule at which it asks for it; for the sender, until it may use the
  // buffer again.
  Duration timeout = std::chrono::minutes(10);
};

// When a computation was done. Waiting for what it takes is not part of it.
struct MeasuredAction {
  Action action;
  Instant begin;
  Instant end;
};

// Performs a pipeline schedule, any that is sound, with the stages that one
// rank has. Knows no framework and no schedule by name: it does the actions of
// its rank's list one after the other, on the caller's thread, while messages
// are under way on threads of their own.
//
// An error breaks the pipeline for good, on all ranks, as soon as they can be
// told; each call fails with the first one from then on. It names stage,
// micro-batch and peer:
//   DeadlineExceeded  a neighbour did not come in time
//   Unavailable       a neighbour died
//   Aborted           another rank failed: why
// and what a stage said of itself. Not thread-safe.
class PipelineRuntime {
 public:
  // Collective over `group`, whose ranks are the pipeline's in order, with the
  // same schedule everywhere; with or without its communication
  // (AddCommunication is done here then). `stages` are this rank's: rank, rank
  // + p, ...; they must outlive it. `group` need not.
  //   InvalidArgument     the schedule is not sound, or is not one for so many
  //                       ranks or so many stages
  //   FailedPrecondition  ranks have other schedules, or a stage gives what the
  //                       next does not take: which, and what each says
  static absl::StatusOr<std::unique_ptr<PipelineRuntime>> Create(
      ProcessGroup& group, PipelineSchedule schedule,
      std::vector<PipelineStage*> stages, PipelineOptions options = {});

  ~PipelineRuntime();
  PipelineRuntime(const PipelineRuntime&) = delete;
  PipelineRuntime& operator=(const PipelineRuntime&) = delete;

  // Collective: all micro-batches forward and backward. Their gradients are
  // added up as those of the mean loss times `factor`: each is divided by the
  // number of micro-batches at the loss, and nowhere else. The mean loss (not
  // times `factor`), on every rank.
  absl::StatusOr<double> Step(double factor = 1);

  // Collective: forward only. The mean loss, on every rank.
  absl::StatusOr<double> Evaluate();

  // The computations of the last Step, in order.
  const std::vector<MeasuredAction>& measured() const;

  // With its communication.
  const PipelineSchedule& schedule() const;
  // Buffers for what flows between stages, made once and used over and over,
  // besides the two that each channel to a neighbour has.
  int stream_buffers() const;

 private:
  class Body;
  explicit PipelineRuntime(std::unique_ptr<Body> body);

  std::unique_ptr<Body> body_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_PIPELINE_RUNTIME_H_
