#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_DEPENDENCIES_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_DEPENDENCIES_H_

#include <array>
#include <optional>
#include <vector>

#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// The events in the progress of a micro-batch at a stage for which other
// computations wait.
enum class Milestone : uint8_t {
  kForward,        // the output of the forward pass is available
  kInputBackward,  // the gradient of the stage's input is available
  kWeightBackward  // the gradients of the stage's weights are added
};

struct Need {
  int stage = 0;
  Milestone milestone = Milestone::kForward;
};

// The milestones (of the same micro-batch) that a computation needs before it
// may start. At most two.
struct Needs {
  std::array<Need, 2> needs;
  int count = 0;

  const Need* begin() const { return needs.data(); }
  const Need* end() const { return needs.data() + count; }
};
Needs NeedsOf(const Action& computation, const PipelineShape& shape);

// The set of milestones reached so far while a schedule is walked through.
class Milestones {
 public:
  explicit Milestones(const PipelineShape& shape);

  bool Reached(const Need& need, int micro_batch) const;
  bool AllReached(const Needs& needs, int micro_batch) const;
  // Records the milestones that the computation reaches; recording one twice
  // has no effect.
  void Reach(const Action& computation);

 private:
  size_t Place(int stage, int micro_batch) const;

  const int micro_batches_;
  std::vector<uint8_t> reached_;
};

// The message between neighbouring stages that brings a computation its input:
// the send, and the receive on the other rank. Does not exist if the
// neighbouring stage is on the same rank or there is none.
struct Message {
  Action send;
  Action receive;
};
std::optional<Message> MessageAfter(const Action& computation,
                                    const PipelineShape& shape);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_DEPENDENCIES_H_
