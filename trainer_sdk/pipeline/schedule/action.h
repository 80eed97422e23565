#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_ACTION_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_ACTION_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster {

// What a rank does at one place of a pipeline schedule, in the words of
// PyTorch's torch.distributed.pipelining.
enum class ActionKind : uint8_t {
  kForward,         // F
  kBackward,        // B: gradients of inputs and of weights
  kInputBackward,   // I: of inputs only, which the previous stage waits for
  kWeightBackward,  // W: of weights, which nobody waits for
  kSendForward,     // SEND_F: this stage's output to the next
  kRecvForward,     // RECV_F: this stage's input from the previous
  kSendBackward,    // SEND_B: the gradient of this stage's input, back
  kRecvBackward,    // RECV_B: the gradient of this stage's output
};

// The name in a schedule's text: "F", "SEND_F", ...
std::string_view ActionName(ActionKind kind);

constexpr bool IsCommunication(ActionKind kind) {
  return kind >= ActionKind::kSendForward;
}

// One action, written as stage, name, micro-batch: 2F0, 1SEND_B3.
struct Action {
  int stage = 0;
  ActionKind kind = ActionKind::kForward;
  int micro_batch = 0;

  auto operator<=>(const Action&) const = default;
};

std::string ToString(const Action& action);

// InvalidArgument, with the text, for anything that ToString does not write.
// Numbers have at most six digits.
absl::StatusOr<Action> ParseAction(std::string_view text);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_ACTION_H_
