#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster {

// The kind of an action in a pipeline schedule, with the names that PyTorch's
// torch.distributed.pipelining uses.
enum class ActionKind : uint8_t {
  kForward,   // F: forward pass
  kBackward,  // B: gradients of the input and of the weights
  // I: gradient of the stage's input, for which the previous stage waits
  kInputBackward,
  kWeightBackward,  // W: gradients of the weights, for which no stage waits
  kSendForward,     // SEND_F: sends this stage's output to the next stage
  kRecvForward,  // RECV_F: receives this stage's input from the previous stage
  // SEND_B: sends the gradient of this stage's input to the previous stage
  kSendBackward,
  // RECV_B: receives the gradient of this stage's output from the next stage
  kRecvBackward,
};

// The name of a kind of action in a schedule's text: "F", "SEND_F", ...
std::string_view ActionName(ActionKind kind);

constexpr bool IsCommunication(ActionKind kind) {
  return kind >= ActionKind::kSendForward;
}

// One action of a rank. The text of an action consists of stage, name and
// micro-batch: 2F0, 1SEND_B3.
struct Action {
  int stage = 0;
  ActionKind kind = ActionKind::kForward;
  int micro_batch = 0;

  auto operator<=>(const Action&) const = default;
};

std::string ToString(const Action& action);

// Parses the text of an action, such as "1SEND_B3". InvalidArgument: `text`
// does not have the form that ToString produces, or a number in it has more
// than six digits; the message quotes `text`.
absl::StatusOr<Action> ParseAction(std::string_view text);

// The size of a pipeline: its ranks, stages and micro-batches.
struct PipelineShape {
  // p: the number of ranks.
  int ranks = 1;
  // v: the number of stages (model chunks) on each rank.
  int stages_per_rank = 1;
  // m: the number of micro-batches in a step.
  int micro_batches = 1;

  int stages() const { return ranks * stages_per_rank; }
  // The rank that has `stage`. Stages are assigned round-robin: rank r has the
  // stages r, r + p, r + 2p, ...
  int RankOf(int stage) const { return stage % ranks; }

  bool operator==(const PipelineShape&) const = default;
};

// The actions of every rank in one step, in order. All code uses this
// representation of schedules: generators produce it, AddCommunication adds
// sends and receives, the validator and the simulator read it, and the runtime
// executes it.
struct PipelineSchedule {
  PipelineShape shape;
  // Each rank's actions in order, indexed by rank.
  std::vector<std::vector<Action>> ranks;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_H_
