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

// A rank's connections to its neighbours in a pipeline. For each neighbour and
// each direction of data there is a channel: a group of two ranks. One rank
// only sends, and the other rank only receives. Each group performs its
// operations in order on its own thread, so a channel that waits never blocks
// another channel. In a channel, messages must be received in the order in
// which they are sent; CheckLowered checks this for a schedule.
class PipelineChannels {
 public:
  // Connects this rank with its neighbours. Collective over `group`, which has
  // the pipeline's ranks in order and may be destroyed before the channels.
  // `max_bytes`: the size in bytes of the longest message, the same on all
  // ranks.
  static absl::StatusOr<std::unique_ptr<PipelineChannels>> Create(
      ProcessGroup& group, const PipelineShape& shape, int64_t max_bytes);

  // The message buffers of the channel for actions of kind `kind`. Empty if
  // this rank has no such channel, or if its memory could not be allocated.
  // Each buffer holds a whole message. If the transport has memory of its own,
  // the buffers lie in this memory: the neighbour then reads a message in one
  // piece, without interrupting this rank's computations.
  std::vector<std::byte*> Buffers(ActionKind kind) const;

  // Starts the transfer of a send or receive action. The buffer must stay valid
  // until the returned work is completed or the channels are destroyed.
  std::shared_ptr<Work> Start(ActionKind kind, void* data,
                              const StreamShape& shape, Duration timeout);

  // Breaks all channels, and sends `reason` to the neighbours.
  void Abort(const std::string& reason);

  // The world rank of the pipeline's rank `rank`, for error messages.
  int WorldRank(int rank) const;

 private:
  PipelineChannels() = default;
  struct Channel {
    // The channel's message buffers. Declared before `group`, so that the
    // group, whose operations use the buffers, is destroyed first.
    std::unique_ptr<TransportMemory> memory;
    std::unique_ptr<ProcessGroup> group;
  };

  absl::Status Connect(ProcessGroup& group, const PipelineShape& shape,
                       ActionKind send);
  absl::Status ReserveBuffers(Channel& channel) const;

  std::vector<int> world_ranks_;
  // The channels for kSendForward, kRecvForward, kSendBackward and
  // kRecvBackward, in this order. `group` is null if this rank has no neighbour
  // for such actions.
  std::array<Channel, 4> by_kind_;
  // The size in bytes of one message buffer in Channel::memory.
  int64_t max_bytes_ = 0;
};

// The size in bytes of the longest message: the largest size among the inputs
// of all stages except the first. `inputs` is indexed by stage.
int64_t LongestStream(const std::vector<StreamShape>& inputs);

// A buffer for the data of one micro-batch between two stages. If `data` is
// null, there is no buffer.
struct StreamBuffer {
  // Address of the buffer, or null.
  std::byte* data = nullptr;
  // The list of free buffers to which PipelineStreams::Free returns this
  // buffer.
  std::vector<std::byte*>* home = nullptr;
};

// Transfers and holds the data that flows between one rank's stages and their
// neighbours, in a pool of buffers. A buffer becomes free when its content has
// been used or sent. So the micro-batches in flight at this rank and its
// neighbours bound the number of buffers. Not thread-safe.
class PipelineStreams {
 public:
  // `inputs`: the input shapes, indexed by stage; the shape of stage 0 is
  // ignored. If transfers may still be pending, destroy `channels` before this
  // object, because the transfers use this object's buffers.
  PipelineStreams(PipelineChannels& channels, const PipelineShape& shape,
                  std::vector<StreamShape> inputs, Duration timeout);

  // Sets the purpose of the following passes. Call it only when no message is
  // in flight. In an evaluation one byte is sent instead of each gradient.
  void Begin(PipelinePass::Purpose purpose) { purpose_ = purpose; }

  // Starts to receive the data of a receive action into a buffer.
  void Receive(const Action& receive);
  // Starts to send the buffer that Put has stored for the send action.
  void Send(const Action& send);

  // Blocks until the input of `computation` has arrived from a neighbouring
  // stage, and returns its buffer. The caller must pass the buffer to Free.
  // Returns a null buffer if `computation` has no such input.
  absl::StatusOr<StreamBuffer> Take(const Action& computation);
  // Returns a buffer for the output of `computation` to a neighbouring stage;
  // the caller must fill it and pass it to Put. Returns a null buffer if there
  // is no such output. Fails if an earlier send has failed.
  absl::StatusOr<StreamBuffer> Make(const Action& computation);
  void Put(const Action& computation, StreamBuffer buffer);
  static void Free(StreamBuffer buffer);

  // Blocks until all sends are complete.
  absl::Status Drain();

  // The number of buffers allocated so far, not counting the channels' own
  // buffers.
  int buffers() const { return static_cast<int>(made_.size()); }

 private:
  struct Arrival {
    StreamBuffer buffer;
    // The transfer that fills `buffer` with the output of a neighbour's stage;
    // null if a stage on this rank has filled `buffer`.
    std::shared_ptr<Work> work;
  };
  struct Departure {
    Action send;
    StreamBuffer buffer;
    std::shared_ptr<Work> work;
  };

  StreamShape ShapeOf(const Action& message) const;
  // Returns a buffer for an action of kind `kind`: a free buffer, or a new one
  // if none is free. Also used for data between two stages on this rank.
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
  // Free buffers by the kind of action. Each kind has a channel of its own, and
  // the buffers are in that channel's memory.
  std::map<ActionKind, std::vector<std::byte*>> channel_buffers_;
  // The inputs of this rank's stages that have arrived or are being received.
  // Key: the receive action that delivers the input. An input from another
  // stage on this rank needs no receive; its key is the receive action that
  // would deliver it from another rank.
  std::map<Action, Arrival> arrivals_;
  // The outputs that Put has stored and Send has not sent yet. Key: the send
  // action.
  std::map<Action, StreamBuffer> ready_;
  std::list<Departure> departures_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_STREAMS_H_
