#include "trainer_sdk/pipeline/schedule/dependencies.h"

#include <cstddef>
#include <cstdint>

#include "base/check.h"

namespace muster {
namespace {

uint8_t Bit(Milestone milestone) {
  return static_cast<uint8_t>(1u << static_cast<unsigned>(milestone));
}

}  // namespace

Needs NeedsOf(const Action& computation, const PipelineShape& shape) {
  Needs needs;
  const auto add = [&needs](int stage, Milestone milestone) {
    needs.needs[static_cast<size_t>(needs.count++)] = {stage, milestone};
  };
  const int stage = computation.stage;
  switch (computation.kind) {
    case ActionKind::kForward:
      if (stage > 0) add(stage - 1, Milestone::kForward);
      break;
    case ActionKind::kBackward:
    case ActionKind::kInputBackward:
      add(stage, Milestone::kForward);
      if (stage + 1 < shape.stages()) add(stage + 1, Milestone::kInputBackward);
      break;
    case ActionKind::kWeightBackward:
      add(stage, Milestone::kInputBackward);
      break;
    default:
      MUSTER_CHECK(!IsCommunication(computation.kind));
  }
  return needs;
}

Milestones::Milestones(const PipelineShape& shape)
    : micro_batches_(shape.micro_batches),
      reached_(static_cast<size_t>(shape.stages()) *
               static_cast<size_t>(shape.micro_batches)) {}

size_t Milestones::Place(int stage, int micro_batch) const {
  return static_cast<size_t>(stage) * static_cast<size_t>(micro_batches_) +
         static_cast<size_t>(micro_batch);
}

bool Milestones::Reached(const Need& need, int micro_batch) const {
  return (reached_[Place(need.stage, micro_batch)] & Bit(need.milestone)) != 0;
}

bool Milestones::AllReached(const Needs& needs, int micro_batch) const {
  for (const Need& need : needs) {
    if (!Reached(need, micro_batch)) return false;
  }
  return true;
}

void Milestones::Reach(const Action& computation) {
  uint8_t& bits = reached_[Place(computation.stage, computation.micro_batch)];
  switch (computation.kind) {
    case ActionKind::kForward:
      bits |= Bit(Milestone::kForward);
      break;
    case ActionKind::kInputBackward:
      bits |= Bit(Milestone::kInputBackward);
      break;
    case ActionKind::kWeightBackward:
      bits |= Bit(Milestone::kWeightBackward);
      break;
    case ActionKind::kBackward:
      bits |= Bit(Milestone::kInputBackward);
      bits |= Bit(Milestone::kWeightBackward);
      break;
    default:
      MUSTER_CHECK(!IsCommunication(computation.kind));
  }
}

std::optional<Message> MessageAfter(const Action& computation,
                                    const PipelineShape& shape) {
  const int stage = computation.stage;
  const int micro_batch = computation.micro_batch;
  Message message;
  switch (computation.kind) {
    case ActionKind::kForward:
      message = {{stage, ActionKind::kSendForward, micro_batch},
                 {stage + 1, ActionKind::kRecvForward, micro_batch}};
      break;
    case ActionKind::kBackward:
    case ActionKind::kInputBackward:
      message = {{stage, ActionKind::kSendBackward, micro_batch},
                 {stage - 1, ActionKind::kRecvBackward, micro_batch}};
      break;
    default:
      return std::nullopt;
  }
  const int to = message.receive.stage;
  if (to < 0 || to >= shape.stages()) return std::nullopt;
  if (shape.RankOf(to) == shape.RankOf(stage)) return std::nullopt;
  return message;
}

}  // namespace muster
