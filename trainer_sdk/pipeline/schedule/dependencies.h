#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_DEPENDENCIES_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_DEPENDENCIES_H_

#include <array>
#include <optional>
#include <vector>

#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// A milestone of one micro-batch at one stage: a result that other computations
// need.
enum class Milestone : uint8_t {
  kForward,        // the output of the forward pass is available
  kInputBackward,  // the gradient of the stage's input is available
  kWeightBackward  // the weight gradients include this micro-batch
};

struct Need {
  int stage = 0;
  Milestone milestone = Milestone::kForward;
};

// The milestones, all of the same micro-batch, that must be reached before a
// computation may start; at most two.
struct Needs {
  std::array<Need, 2> needs;
  int count = 0;

  const Need* begin() const { return needs.data(); }
  const Need* end() const { return needs.data() + count; }
};
Needs NeedsOf(const Action& computation, const PipelineShape& shape);

// The set of milestones reached so far by a simulation of a schedule.
class Milestones {
 public:
  explicit Milestones(const PipelineShape& shape);

  bool Reached(const Need& need, int micro_batch) const;
  bool AllReached(const Needs& needs, int micro_batch) const;
  // Adds the milestones that `computation` reaches, that is, its results that
  // other computations need. Has no effect on milestones that were reached
  // before.
  void Reach(const Action& computation);

 private:
  size_t Place(int stage, int micro_batch) const;

  const int micro_batches_;
  std::vector<uint8_t> reached_;
};

// The send and the receive that transfer the result of a computation to a
// neighbouring stage on another rank. MessageAfter returns the message with the
// result of `computation`; nullopt if no other rank needs the result.
struct Message {
  Action send;
  Action receive;
};
std::optional<Message> MessageAfter(const Action& computation,
                                    const PipelineShape& shape);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_DEPENDENCIES_H_
