#include "trainer_sdk/shared_memory/flow.h"

#include <algorithm>
#include <cstdint>

#include "trainer_sdk/process_group/signature.h"

namespace muster {

Flow::Flow(const Operation& operation, int rank, int size)
    : operation_(operation),
      rank_(rank),
      size_(size),
      reduces_(IsReduction(operation.kind)) {
  switch (operation.kind) {
    case OperationKind::kAllReduce:
    case OperationKind::kAllGather:
      one_lane_ = true;
      break;
    case OperationKind::kBroadcast:
      one_lane_ = true;
      sender_ = operation.root;
      break;
    case OperationKind::kReduce:
    case OperationKind::kGather:
      one_lane_ = true;
      receiver_ = operation.root;
      break;
    case OperationKind::kScatter:
      sender_ = operation.root;
      break;
    default:
      break;
  }
}

int64_t Flow::SendCount(int receiver) const {
  switch (operation_.kind) {
    case OperationKind::kAllGather:
    case OperationKind::kGather:
      return Part(rank_);
    case OperationKind::kReduceScatter:
    case OperationKind::kScatter:
    case OperationKind::kAllToAll:
      return Part(receiver);
    default:
      return operation_.count;
  }
}

int64_t Flow::ReceiveCount(int sender) const {
  switch (operation_.kind) {
    case OperationKind::kAllGather:
    case OperationKind::kGather:
      return Part(sender);
    case OperationKind::kReduceScatter:
    case OperationKind::kScatter:
      return Part(rank_);
    case OperationKind::kAllToAll:
      return ReceivedPart(sender);
    default:
      return operation_.count;
  }
}

int64_t Flow::InputOffset(int receiver) const {
  if (one_lane_) return 0;
  int64_t offset = 0;
  for (int rank = 0; rank < receiver; ++rank) offset += SendCount(rank);
  return offset;
}

int64_t Flow::OutputOffset(int sender) const {
  if (reduces_ || sender_ >= 0) return 0;
  int64_t offset = 0;
  for (int rank = 0; rank < sender; ++rank) offset += ReceiveCount(rank);
  return offset;
}

int64_t Flow::LongestLane() const {
  int64_t longest = 0;
  for (int rank = 0; rank < size_; ++rank) {
    longest = std::max({longest, SendCount(rank), ReceiveCount(rank)});
  }
  return longest;
}

int64_t Flow::Bytes() const {
  const int64_t sent = one_lane_ ? SendCount(0) : InputOffset(size_);
  const int64_t received =
      reduces_ || sender_ >= 0 ? ReceiveCount(0) : OutputOffset(size_);
  return std::max(sent, received) * SizeOf(operation_.dtype);
}

int64_t ShareBegin(int64_t count, int rank, int size, int64_t per_line) {
  if (rank == size) return count;
  const int64_t lines = (count + per_line - 1) / per_line;
  return std::min(count, lines * rank / size * per_line);
}

}  // namespace muster
