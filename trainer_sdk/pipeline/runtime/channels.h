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
#include "trainer_sdk/pipeline/runtime/pipeline_stage.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// A rank's connections to its neighbours in a pipeline. For each neighbour and
// each direction of data there is a group of two, in which one rank only sends
// and the other only receives. A group performs its operations in order on a
// thread of its own, so a channel that waits never blocks another. A channel
// works correctly if messages are received in the order in which they are sent,
// which the schedule's validator has checked.
class PipelineChannels {
 public:
  // Collective over `group`, which has the pipeline's ranks in order and may be
  // destroyed before the channels. `most_bytes`: size of the longest message,
  // the same on all ranks.
  static absl::StatusOr<std::unique_ptr<PipelineChannels>> Create(
      ProcessGroup& group, const PipelineShape& shape, int64_t most_bytes);

  // Buffers for whole messages in memory that the channel of actions of this
  // kind reaches faster than other memory. Empty if there is no such channel or
  // memory. A neighbour reads a message from there in one step, which takes no
  // time from this rank's computations; a transfer in pieces would.
  std::vector<std::byte*> Places(ActionKind kind) const;

  // Starts the message of a send or receive action. The buffer must stay valid
  // until the work is completed or the channels are destroyed.
  std::shared_ptr<Work> Start(ActionKind kind, void* data,
                              const StreamShape& shape, Duration timeout);

  // Breaks all channels, and tells the neighbours `reason`.
  void Abort(const std::string& reason);

  // World rank of a rank of the pipeline, for messages.
  int WorldRank(int rank) const;

 private:
  PipelineChannels() = default;
  struct Channel {
    // Declared first, so that it is destroyed after the group, whose messages
    // may use it.
    std::unique_ptr<TransportMemory> memory;
    std::unique_ptr<ProcessGroup> group;
  };

  absl::Status Connect(ProcessGroup& group, const PipelineShape& shape,
                       ActionKind send);
  absl::Status ReservePlaces(Channel& channel) const;

  std::vector<int> world_ranks_;
  // By kind of action, from kSendForward on; null if there is no such
  // neighbour.
  std::array<Channel, 4> by_kind_;
  // Size of a place in bytes.
  int64_t most_bytes_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_CHANNELS_H_
