#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_DEPENDENCIES_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_DEPENDENCIES_H_

#include <array>
#include <optional>
#include <vector>

#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// What a stage has done with a micro-batch: the facts that others wait for.
enum class Milestone : uint8_t {
  kForward,        // its output is there
  kInputBackward,  // the gradient of its input is there
  kWeightBackward  // its weights' gradients have been added
};

struct Need {
  int stage = 0;
  Milestone milestone = Milestone::kForward;
};

// What must have been reached, for the action's micro-batch, before a
// computation may start. At most two.
struct Needs {
  std::array<Need, 2> needs;
  int count = 0;

  const Need* begin() const { return needs.data(); }
  const Need* end() const { return needs.data() + count; }
};
Needs NeedsOf(const Action& computation, const PipelineShape& shape);

// Which milestones there are, as far as a walk through a schedule has come.
class Milestones {
 public:
  explicit Milestones(const PipelineShape& shape);

  bool Reached(const Need& need, int micro_batch) const;
  bool AllReached(const Needs& needs, int micro_batch) const;
  // Those that the computation reaches. Twice is once.
  void Reach(const Action& computation);

 private:
  size_t Place(int stage, int micro_batch) const;

  const int micro_batches_;
  std::vector<uint8_t> reached_;
};

// The message between neighbouring stages that a computation makes necessary:
// its send, with the receive on the other rank; none where the neighbour is on
// the same rank or does not exist.
struct Message {
  Action send;
  Action receive;
};
std::optional<Message> MessageAfter(const Action& computation,
                                    const PipelineShape& shape);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_DEPENDENCIES_H_
