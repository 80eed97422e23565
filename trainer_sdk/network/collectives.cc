#include "trainer_sdk/network/collectives.h"

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/network/all_reduce.h"
#include "trainer_sdk/network/parts.h"
#include "trainer_sdk/network/primitives.h"

namespace muster {
namespace {

// Above this size it is slower that the root exchanges all data with every rank
// than to distribute the work first.
constexpr int64_t kTreeBytes = 128 << 10;

char* At(void* base, int64_t bytes) { return static_cast<char*>(base) + bytes; }
const char* At(const void* base, int64_t bytes) {
  return static_cast<const char*>(base) + bytes;
}

absl::Status AllGather(const Operation& operation, Mesh& mesh) {
  const RankParts parts(operation.counts, operation.count, mesh.size());
  const int64_t element = SizeOf(operation.dtype);
  const int rank = mesh.rank();
  CopyUnlessSame(At(operation.output, parts.begin(rank) * element),
                 operation.input, parts.count(rank) * element);
  return GatherToAll(mesh, parts, element, operation.output);
}

absl::Status Broadcast(const Operation& operation, Mesh& mesh) {
  const int64_t element = SizeOf(operation.dtype);
  const int64_t bytes = operation.count * element;
  const int root = operation.root;
  if (mesh.rank() == root) {
    CopyUnlessSame(operation.output, operation.input, bytes);
  }
  if (bytes <= kTreeBytes || mesh.size() == 2) {
    return BroadcastDownTree(mesh, root, operation.output, bytes);
  }
  // Scatter, then all_gather: the root sends twice the bytes instead of n - 1
  // times.
  const RankParts parts = RankParts::Even(operation.count, mesh.size());
  char* const own = At(operation.output, parts.begin(mesh.rank()) * element);
  absl::Status s =
      ScatterFromRoot(mesh, parts, element, root, operation.output, own);
  if (!s.ok()) return s;
  return GatherToAll(mesh, parts, element, operation.output);
}

absl::Status Reduce(const Operation& operation, Mesh& mesh, Scratch& scratch) {
  const int64_t element = SizeOf(operation.dtype);
  const int rank = mesh.rank(), size = mesh.size(), root = operation.root;
  const Reduction reduction{operation.dtype, operation.reduce_op};
  if (operation.count * element <= kTreeBytes || size == 2) {
    // One part: all elements belong to the root.
    std::vector<int64_t> counts(size, 0);
    counts[root] = operation.count;
    return ReduceToOwners(mesh, RankParts(counts, 0, size), reduction,
                          operation.input, operation.output, scratch);
  }
  const RankParts parts = RankParts::Even(operation.count, size);
  // Own memory, because ReduceToOwners uses `scratch`.
  Scratch part;
  char* const own = rank == root
                        ? At(operation.output, parts.begin(rank) * element)
                        : part.Get(parts.count(rank) * element);
  absl::Status s =
      ReduceToOwners(mesh, parts, reduction, operation.input, own, scratch);
  if (!s.ok()) return s;
  // The root's output may be the same memory as its input, which may still be
  // in flight and which the other ranks' data overwrites now.
  if (s = mesh.Flush(); !s.ok()) return s;
  s = GatherToRoot(mesh, parts, element, root, own, operation.output);
  // `part` is destroyed at the end of this function.
  return s.ok() ? mesh.Flush() : s;
}

absl::Status AllToAll(const Operation& operation, Mesh& mesh) {
  const int rank = mesh.rank(), size = mesh.size();
  const int64_t element = SizeOf(operation.dtype);
  const RankParts to(operation.counts, operation.count, size);
  const RankParts from(operation.receive_counts, operation.count, size);
  std::vector<Ticket> tickets;
  for (int step = 1; step < size; ++step) {
    const int peer = (rank - step + size) % size;
    tickets.push_back(
        mesh.Receive(peer, At(operation.output, from.begin(peer) * element),
                     from.count(peer) * element));
  }
  for (int step = 1; step < size; ++step) {
    const int peer = (rank + step) % size;
    mesh.Send(peer, At(operation.input, to.begin(peer) * element),
              to.count(peer) * element);
  }
  CopyUnlessSame(At(operation.output, from.begin(rank) * element),
                 At(operation.input, to.begin(rank) * element),
                 std::min(to.count(rank), from.count(rank)) * element);
  for (const Ticket ticket : tickets) {
    if (absl::Status s = mesh.Wait(ticket); !s.ok()) return s;
  }
  return absl::OkStatus();
}

// A rank's messages to itself in one batch: the n-th send of a tag matches its
// n-th receive.
absl::Status MessagesToOneself(const std::vector<PointToPoint>& messages,
                               int rank) {
  std::map<int, std::deque<const PointToPoint*>> sent;  // by tag
  for (const PointToPoint& message : messages) {
    if (message.peer == rank && message.kind == OperationKind::kSend) {
      sent[message.tag].push_back(&message);
    }
  }
  for (const PointToPoint& message : messages) {
    if (message.peer != rank || message.kind == OperationKind::kSend) continue;
    std::deque<const PointToPoint*>& matching = sent[message.tag];
    if (matching.empty() || matching.front()->count != message.count ||
        matching.front()->dtype != message.dtype) {
      return absl::FailedPreconditionError(absl::StrCat(
          "a message to oneself (rank ", rank, ", tag ", message.tag,
          ") needs an equal send and receive in one batch"));
    }
    CopyUnlessSame(message.data, matching.front()->data,
                   message.count * SizeOf(message.dtype));
    matching.pop_front();
  }
  return absl::OkStatus();
}

absl::Status Messages(const std::vector<PointToPoint>& messages, Mesh& mesh) {
  absl::Status alone = MessagesToOneself(messages, mesh.rank());
  if (!alone.ok()) return alone;
  std::vector<Ticket> tickets;
  for (const PointToPoint& message : messages) {
    if (message.peer == mesh.rank()) continue;
    const MessageLabel label{message.tag, message.dtype, message.count};
    if (message.kind == OperationKind::kSend) {
      mesh.SendMessage(message.peer, label, message.data);
    } else {
      tickets.push_back(mesh.ReceiveMessage(message.peer, label, message.data));
    }
  }
  for (const Ticket ticket : tickets) {
    if (absl::Status s = mesh.Wait(ticket); !s.ok()) return s;
  }
  return absl::OkStatus();
}

PointToPoint AsMessage(const Operation& operation) {
  return PointToPoint{operation.kind,
                      operation.root,
                      operation.tag,
                      operation.kind == OperationKind::kSend
                          ? const_cast<void*>(operation.input)
                          : operation.output,
                      operation.count,
                      operation.dtype};
}

// Whether a rank could finish without hearing from all others. Then it would
// learn of a mismatch only in its next operation.
bool SomeHearNothing(const Operation& operation, int size) {
  // Only the two ends of a part know its expected length, and the sender hears
  // nothing from the receiver.
  if (operation.kind == OperationKind::kAllToAll) {
    return !operation.counts.empty();
  }
  if (operation.kind != OperationKind::kReduceScatter) {
    return HasRoot(operation.kind);
  }
  const RankParts parts(operation.counts, operation.count, size);
  for (int part = 0; part < size; ++part) {
    if (parts.count(part) == 0) return true;
  }
  return false;
}

absl::Status Run(const Operation& operation, Mesh& mesh, Scratch& scratch) {
  const int size = mesh.size();
  const int64_t element = SizeOf(operation.dtype);
  const Reduction reduction{operation.dtype, operation.reduce_op};
  const RankParts parts(IsPointToPoint(operation.kind) ? std::vector<int64_t>()
                                                       : operation.counts,
                        operation.count, size);
  switch (operation.kind) {
    case OperationKind::kAllReduce:
      return AllReduceOver(mesh, WayOf(size, operation.count * element),
                           reduction, operation.input, operation.output,
                           operation.count, scratch);
    case OperationKind::kReduceScatter:
      return ReduceToOwners(mesh, parts, reduction, operation.input,
                            operation.output, scratch);
    case OperationKind::kAllGather:
      return AllGather(operation, mesh);
    case OperationKind::kBroadcast:
      return Broadcast(operation, mesh);
    case OperationKind::kReduce:
      return Reduce(operation, mesh, scratch);
    case OperationKind::kAllToAll:
      return AllToAll(operation, mesh);
    case OperationKind::kGather:
      return GatherToRoot(mesh, parts, element, operation.root, operation.input,
                          operation.output);
    case OperationKind::kScatter:
      return ScatterFromRoot(mesh, parts, element, operation.root,
                             operation.input, operation.output);
    case OperationKind::kBarrier:
    case OperationKind::kSplit:
      return Disseminate(mesh);
    case OperationKind::kSend:
    case OperationKind::kReceive:
      return Messages({AsMessage(operation)}, mesh);
    case OperationKind::kBatch:
      return Messages(operation.messages, mesh);
  }
  return absl::UnimplementedError("an unknown kind of operation");
}

}  // namespace

absl::Status RunOverMesh(const Operation& operation, Mesh& mesh,
                         Scratch& scratch) {
  absl::Status s = Run(operation, mesh, scratch);
  return s.ok() && SomeHearNothing(operation, mesh.size()) ? Disseminate(mesh)
                                                           : s;
}

}  // namespace muster
