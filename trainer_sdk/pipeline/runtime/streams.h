#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_STREAMS_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_STREAMS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
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

// A rank's connections to its neighbours in a pipeline. There is a group of two
// ranks for each neighbour and each direction of data; one rank only sends, the
// other only receives. A group performs its operations in order on a thread of
// its own, so a channel that waits never blocks another. A channel works
// correctly if messages are received in the order in which they are sent, which
// CheckLowered has checked.
class PipelineChannels {
 public:
  // Collective over `group`, which has the pipeline's ranks in order and may be
  // destroyed before the channels. `max_bytes`: the size of the longest
  // message, the same on all ranks.
  static absl::StatusOr<std::unique_ptr<PipelineChannels>> Create(
      ProcessGroup& group, const PipelineShape& shape, int64_t max_bytes);

  // Buffers for whole messages in memory that the channel for actions of this
  // kind accesses faster than other memory. Empty if there is no such channel
  // or memory. A neighbour reads a message from such memory in one step, which
  // does not interrupt this rank's computations; a transfer in pieces would.
  std::vector<std::byte*> Buffers(ActionKind kind) const;

  // Starts the message of a send or receive action. The buffer must stay valid
  // until the work is completed or the channels are destroyed.
  std::shared_ptr<Work> Start(ActionKind kind, void* data,
                              const StreamShape& shape, Duration timeout);

  // Breaks all channels, and sends `reason` to the neighbours.
  void Abort(const std::string& reason);

  // The world rank of a rank of the pipeline, for messages.
  int WorldRank(int rank) const;

 private:
  PipelineChannels() = default;
  struct Channel {
    // Memory for messages. Declared before `group`, because the group must be
    // destroyed first.
    std::unique_ptr<TransportMemory> memory;
    std::unique_ptr<ProcessGroup> group;
  };

  absl::Status Connect(ProcessGroup& group, const PipelineShape& shape,
                       ActionKind send);
  absl::Status ReserveBuffers(Channel& channel) const;

  std::vector<int> world_ranks_;
  // The channel for each kind of action, from kSendForward on. `group` is null
  // if this rank has no neighbour for that kind.
  std::array<Channel, 4> by_kind_;
  // Size of one message buffer in `memory`, in bytes.
  int64_t max_bytes_ = 0;
};

// The largest size in bytes among the inputs of all stages except the first.
int64_t LongestStream(const std::vector<StreamShape>& inputs);

// A buffer for the data of one micro-batch between two stages; null: no buffer.
struct StreamBuffer {
  // Address of the buffer; null: there is no buffer.
  std::byte* data = nullptr;
  // The free list to which the buffer returns.
  std::vector<std::byte*>* home = nullptr;
};

// The data that flows between the stages of one rank and their neighbours, in a
// pool of buffers. A buffer becomes free when its content has been used or
// sent. So the pool never has more buffers than the schedule has micro-batches
// in flight at this rank and its neighbours. (A message that was sent but not
// received is in flight at the receiver.) Not thread-safe.
class PipelineStreams {
 public:
  // `inputs`: the input shape of each stage; the first is ignored. `channels`
  // must outlive this object. Transfers may still be pending when this object
  // is destroyed: see Abandon.
  PipelineStreams(PipelineChannels& channels, const PipelineShape& shape,
                  std::vector<StreamShape> inputs, Duration timeout);

  // Sets the purpose of the following passes. Call it only when no message is
  // in flight. In an evaluation one byte is sent instead of each gradient.
  void Begin(PipelinePass::Purpose purpose) { purpose_ = purpose; }

  // Starts the receive of a receive action.
  void Receive(const Action& receive);
  // Starts the send of the buffer that Put stored for the send action.
  void Send(const Action& send);

  // Blocks until the input of `computation` has arrived from a neighbour, and
  // returns it; a null buffer if it has no such input. The caller must pass the
  // buffer to Free.
  absl::StatusOr<StreamBuffer> Take(const Action& computation);
  // A buffer for the output of `computation` to a neighbour; a null buffer if
  // it has no such output. The caller must pass the filled buffer to Put. Fails
  // if a send has failed.
  absl::StatusOr<StreamBuffer> Make(const Action& computation);
  void Put(const Action& computation, StreamBuffer buffer);
  static void Free(StreamBuffer buffer);

  // Blocks until all sends are complete.
  absl::Status Drain();

  // The number of buffers allocated so far, without those of the channels.
  int buffers() const { return static_cast<int>(made_.size()); }

 private:
  struct Arrival {
    StreamBuffer buffer;
    // The receive of the data; null: a stage on this rank computed the data.
    std::shared_ptr<Work> work;
  };
  struct Departure {
    Action send;
    StreamBuffer buffer;
    std::shared_ptr<Work> work;
  };

  StreamShape ShapeOf(const Action& message) const;
  // A free buffer for the data of a message of this kind, or of a stage on this
  // rank.
  StreamBuffer Any(ActionKind kind);
  absl::Status Reap();
  absl::Status Failed(const Action& message, const absl::Status& status) const;

  PipelineChannels& channels_;
  const PipelineShape shape_;
  const std::vector<StreamShape> inputs_;
  const Duration timeout_;
  PipelinePass::Purpose purpose_ = PipelinePass::Purpose::kTraining;
  size_t bytes_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> made_;
  std::vector<std::byte*> free_;
  // Free buffers in the channels' memory, by kind of action.
  std::map<ActionKind, std::vector<std::byte*>> channel_buffers_;
  // Key: the receive action, also for data that comes from a stage on this
  // rank.
  std::map<Action, Arrival> arrivals_;
  // Key: the send action; value: output that is not sent yet.
  std::map<Action, StreamBuffer> ready_;
  std::list<Departure> departures_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_STREAMS_H_
