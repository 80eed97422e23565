#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_STREAMS_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_STREAMS_H_

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
#include "trainer_sdk/pipeline/runtime/channels.h"
#include "trainer_sdk/pipeline/runtime/pipeline_stage.h"
#include "trainer_sdk/pipeline/runtime/stream_shape.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// The most bytes of any of the stages' inputs but the first's.
int64_t LongestStream(const std::vector<StreamShape>& inputs);

// Memory for what one micro-batch is between two stages.
struct StreamBuffer {
  // Null: none.
  std::byte* data = nullptr;
  // Where it is put when it is free.
  std::vector<std::byte*>* home = nullptr;
};

// What flows between the stages of one rank and their neighbours, in buffers of
// a pool: received, used, computed and sent. A buffer is free again when what
// it holds has been used or sent; so there are never more than the schedule has
// micro-batches under way at this rank and its neighbours: one that was sent
// and not yet received is one that the receiver has still before it, and holds.
// Not thread-safe.
class PipelineStreams {
 public:
  // `inputs` are the shapes of stages' inputs, by stage; the first's is not
  // looked at. `channels` must outlive it, but not its transfers: see Abandon.
  PipelineStreams(PipelineChannels& channels, const PipelineShape& shape,
                  std::vector<StreamShape> inputs, Duration timeout);

  // What is to come, in an order without anything under way: in an evaluation
  // no gradients flow, but a byte in their place.
  void Begin(PipelinePass::Purpose purpose) { purpose_ = purpose; }

  // Starts what a receive action says.
  void Receive(const Action& receive);
  // Starts the sending of what has been put for a send action.
  void Send(const Action& send);

  // What `computation` takes from its neighbour, once it is there; null where
  // it has none. Give it back with Free.
  absl::StatusOr<StreamBuffer> Take(const Action& computation);
  // A buffer for what `computation` gives to its neighbour, which Put is to
  // follow; null where it has none. Fails if a send has failed.
  absl::StatusOr<StreamBuffer> Make(const Action& computation);
  void Put(const Action& computation, StreamBuffer buffer);
  static void Free(StreamBuffer buffer);

  // Waits until all that was sent has gone.
  absl::Status Drain();

  // Buffers made so far, besides the channels' places.
  int buffers() const { return static_cast<int>(made_.size()); }

 private:
  struct Arrival {
    StreamBuffer buffer;
    // Null: computed on this rank.
    std::shared_ptr<Work> work;
  };
  struct Departure {
    Action send;
    StreamBuffer buffer;
    std::shared_ptr<Work> work;
  };

  StreamShape ShapeOf(const Action& message) const;
  // For a message of this kind, or one to a stage of this rank.
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
  // The channels' places that are free, by kind of action.
  std::map<ActionKind, std::vector<std::byte*>> places_;
  // By receive action, whether it is a message or not.
  std::map<Action, Arrival> arrivals_;
  // By send action.
  std::map<Action, StreamBuffer> ready_;
  std::list<Departure> departures_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_STREAMS_H_
