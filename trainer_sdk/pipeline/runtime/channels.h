#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_CHANNELS_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_CHANNELS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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
  // may go before the channels do. The longest message has `most_bytes`, the
  // same on all ranks.
  static absl::StatusOr<std::unique_ptr<PipelineChannels>> Create(
      ProcessGroup& group, const PipelineShape& shape, int64_t most_bytes);

  // Places for whole messages in memory that the channel of such an action
  // reaches faster than any other; none where there is no channel, or no such
  // memory. From there a neighbour takes a message in one go, which costs this
  // rank's computations no time, as handing it over piece by piece would.
  std::vector<std::byte*> Places(ActionKind kind) const;

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
  struct Channel {
    // Goes after the group, whose messages may be in it.
    std::unique_ptr<TransportMemory> memory;
    std::unique_ptr<ProcessGroup> group;
  };

  absl::Status Connect(ProcessGroup& group, const PipelineShape& shape,
                       ActionKind send);
  absl::Status ReservePlaces(Channel& channel) const;

  std::vector<int> world_ranks_;
  // By kind of action, from kSendForward on; null where there is no neighbour.
  std::array<Channel, 4> by_kind_;
  // Of a place.
  int64_t most_bytes_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_CHANNELS_H_
