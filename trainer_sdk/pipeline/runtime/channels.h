#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_CHANNELS_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_CHANNELS_H_

#include <array>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/pipeline/runtime/stream_shape.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/process_group/work.h"

namespace muster {

// A rank's connections to its neighbours in a pipeline: for each neighbour and
// each direction of data a group of two, in which one only sends and the other
// only receives. A group does one thing after another, on a thread of its own;
// so what one channel waits for never keeps another waiting, and a channel is
// done in order if its messages are received in the order in which they are
// sent, which the schedule's validator has seen to.
class PipelineChannels {
 public:
  // Collective over `group`, which has the pipeline's ranks in order, and which
  // may go before the channels do.
  static absl::StatusOr<std::unique_ptr<PipelineChannels>> Create(
      ProcessGroup& group, const PipelineShape& shape);

  // Starts the message of a send or receive action. The buffer must stay until
  // the work is completed, or the channels are gone.
  std::shared_ptr<Work> Start(ActionKind kind, void* data,
                              const StreamShape& shape, Duration timeout);

  // Breaks all channels, so that neighbours hear of it, and why.
  void Abort(const std::string& reason);

  // World ranks by rank in the pipeline, for messages.
  int WorldRank(int rank) const;

 private:
  PipelineChannels() = default;
  absl::Status Connect(ProcessGroup& group, const PipelineShape& shape,
                       ActionKind send);

  std::vector<int> world_ranks_;
  // By kind of action, from kSendForward on; null where there is no neighbour.
  std::array<std::unique_ptr<ProcessGroup>, 4> by_kind_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_CHANNELS_H_
