#include "trainer_sdk/process_group/argument_check.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {
namespace {

// The largest accepted count, in elements: more than the memory of any machine
// can hold, but so small that the sum of a thousand counts, in bytes, does not
// overflow int64_t.
constexpr int64_t kMaxElements = int64_t{1} << 46;

// The numbers of elements in this rank's input and output. `in_place`: the
// offset in elements at which the shorter buffer must begin in the longer one
// if the operation is in place; -1: the operation cannot be in place.
struct Extent {
  int64_t input = 0;
  int64_t output = 0;
  int64_t in_place = -1;
};

template <typename... Parts>
absl::Status Wrong(const Operation& operation, const Parts&... parts) {
  return absl::InvalidArgumentError(
      absl::StrCat(Name(operation.kind), ": ", parts...));
}

absl::Status CheckCounts(const Operation& operation,
                         const std::vector<int64_t>& counts, int size) {
  if (counts.size() != static_cast<size_t>(size)) {
    return Wrong(operation, counts.size(), " counts for a group of ", size);
  }
  int64_t sum = 0;
  for (const int64_t count : counts) {
    if (count < 0 || count > kMaxElements || sum > kMaxElements) {
      return Wrong(operation, "a count of ", count, " elements");
    }
    sum += count;
  }
  return absl::OkStatus();
}

absl::Status CheckPeer(const Operation& operation, int peer, int tag, int rank,
                       int size) {
  if (peer < 0 || peer >= size) {
    return Wrong(operation, "peer ", peer, " in a group of ", size);
  }
  if (peer == rank) return Wrong(operation, "rank ", rank, " is its own peer");
  if (tag < 0) return Wrong(operation, "tag ", tag, " is negative");
  return absl::OkStatus();
}

absl::Status CheckMessage(const Operation& operation,
                          const PointToPoint& message, int rank, int size) {
  if (message.kind != OperationKind::kSend &&
      message.kind != OperationKind::kReceive) {
    return Wrong(operation, "a message that is neither sent nor received");
  }
  if (message.count < 0 || message.count > kMaxElements) {
    return Wrong(operation, "a message of ", message.count, " elements");
  }
  if (message.count > 0 && message.data == nullptr) {
    return Wrong(operation, "a message of ", message.count,
                 " elements without a buffer");
  }
  return CheckPeer(operation, message.peer, message.tag, rank, size);
}

int64_t Part(const Operation& operation, int rank) {
  return operation.counts.empty() ? operation.count : operation.counts[rank];
}

int64_t SumBefore(const Operation& operation, int rank) {
  if (operation.counts.empty()) return operation.count * rank;
  int64_t sum = 0;
  for (int i = 0; i < rank; i++) sum += operation.counts[i];
  return sum;
}

int64_t ReceivedSum(const Operation& operation, int size) {
  if (operation.receive_counts.empty()) return operation.count * size;
  int64_t sum = 0;
  for (const int64_t count : operation.receive_counts) sum += count;
  return sum;
}

Extent ExtentOf(const Operation& operation, int rank, int size) {
  const bool is_root = rank == operation.root;
  const int64_t whole = SumBefore(operation, size);
  const int64_t part = Part(operation, rank);
  const int64_t before = SumBefore(operation, rank);
  switch (operation.kind) {
    case OperationKind::kAllReduce:
      return {operation.count, operation.count, 0};
    case OperationKind::kReduceScatter:
      return {whole, part, before};
    case OperationKind::kAllGather:
      return {part, whole, before};
    case OperationKind::kBroadcast:
      return {is_root ? operation.count : 0, operation.count, 0};
    case OperationKind::kReduce:
      return {operation.count, is_root ? operation.count : 0, 0};
    case OperationKind::kAllToAll:
      return {whole, ReceivedSum(operation, size), -1};
    case OperationKind::kGather:
      return {part, is_root ? whole : 0, before};
    case OperationKind::kScatter:
      return {is_root ? whole : 0, part, before};
    case OperationKind::kSend:
      return {operation.count, 0, -1};
    case OperationKind::kReceive:
      return {0, operation.count, -1};
    default:
      return {};
  }
}

absl::Status CheckBuffers(const Operation& operation, const Extent& extent) {
  if (extent.input > 0 && operation.input == nullptr) {
    return Wrong(operation, "no input for ", extent.input, " elements");
  }
  if (extent.output > 0 && operation.output == nullptr) {
    return Wrong(operation, "no output for ", extent.output, " elements");
  }
  if (extent.input == 0 || extent.output == 0) return absl::OkStatus();
  const int64_t width = SizeOf(operation.dtype);
  const auto input = reinterpret_cast<uintptr_t>(operation.input);
  const auto output = reinterpret_cast<uintptr_t>(operation.output);
  if (input + extent.input * width <= output ||
      output + extent.output * width <= input) {
    return absl::OkStatus();
  }
  const uintptr_t shift = extent.in_place * width;
  if (extent.in_place >= 0 &&
      (extent.input <= extent.output ? input == output + shift
                                     : output == input + shift)) {
    return absl::OkStatus();
  }
  return Wrong(operation, "input and output overlap",
               extent.in_place < 0
                   ? ", which it cannot do"
                   : "; in place means that the shorter one is this rank's "
                     "own part of the longer one");
}

absl::Status CheckPointee(const Operation& operation) {
  if (!operation.pointee || *operation.pointee == operation.dtype ||
      (operation.dtype == DType::kInt8 && !IsReduction(operation.kind))) {
    return absl::OkStatus();
  }
  return Wrong(operation, "elements of ", Name(operation.dtype),
               " in a buffer of ", Name(*operation.pointee));
}

absl::Status CheckRankAndCounts(const Operation& operation, int rank,
                                int size) {
  if (HasRoot(operation.kind) &&
      (operation.root < 0 || operation.root >= size)) {
    return Wrong(operation, "root ", operation.root, " in a group of ", size);
  }
  if (operation.count < 0 || operation.count > kMaxElements / size) {
    return Wrong(operation, "a count of ", operation.count, " elements");
  }
  if (!HasParts(operation.kind)) {
    if (operation.counts.empty() && operation.receive_counts.empty()) {
      return absl::OkStatus();
    }
    return Wrong(operation, "has no counts by rank");
  }
  if (operation.counts.empty() && operation.receive_counts.empty()) {
    return absl::OkStatus();
  }
  if (operation.kind == OperationKind::kAllToAll) {
    const absl::Status status =
        CheckCounts(operation, operation.receive_counts, size);
    if (!status.ok()) return status;
    if (operation.counts.size() == static_cast<size_t>(size) &&
        operation.counts[rank] != operation.receive_counts[rank]) {
      return Wrong(operation, "rank ", rank, " sends itself ",
                   operation.counts[rank], " elements and receives ",
                   operation.receive_counts[rank]);
    }
  } else if (!operation.receive_counts.empty()) {
    return Wrong(operation, "has no counts to receive");
  }
  return CheckCounts(operation, operation.counts, size);
}

}  // namespace

bool HasParts(OperationKind kind) {
  return kind == OperationKind::kReduceScatter ||
         kind == OperationKind::kAllGather || kind == OperationKind::kGather ||
         kind == OperationKind::kScatter || kind == OperationKind::kAllToAll;
}

absl::Status CheckArguments(const Operation& operation, int rank, int size) {
  if (operation.kind == OperationKind::kBarrier) return absl::OkStatus();
  if (operation.kind == OperationKind::kSplit) {
    return Wrong(operation, "call ProcessGroup::Split");
  }
  if (operation.kind == OperationKind::kBatch) {
    for (const PointToPoint& message : operation.messages) {
      const absl::Status status = CheckMessage(operation, message, rank, size);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  absl::Status status = CheckPointee(operation);
  if (!status.ok()) return status;
  status = CheckRankAndCounts(operation, rank, size);
  if (!status.ok()) return status;
  if (IsPointToPoint(operation.kind)) {
    status = CheckPeer(operation, operation.root, operation.tag, rank, size);
    if (!status.ok()) return status;
  }
  return CheckBuffers(operation, ExtentOf(operation, rank, size));
}

absl::Status CheckPlace(const GroupPlace& place,
                        const std::vector<int>& global_ranks) {
  if (place.size < 1 || place.rank < 0 || place.rank >= place.size) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", place.rank, " of ", place.size));
  }
  if (!global_ranks.empty() &&
      global_ranks.size() != static_cast<size_t>(place.size)) {
    return absl::InvalidArgumentError(absl::StrCat(
        global_ranks.size(), " global ranks for a group of ", place.size));
  }
  if (place.store == nullptr && place.size > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("its store is null, by which its ", place.size,
                     " ranks were to find each other: pass session->store()"));
  }
  return absl::OkStatus();
}

}  // namespace muster
