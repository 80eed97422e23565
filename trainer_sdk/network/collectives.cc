#include "trainer_sdk/network/collectives.h"

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/network/primitives.h"
#include "trainer_sdk/reduce/reduce.h"

namespace muster {
namespace {

// The largest total number of bytes that a rank sends directly to all other
// ranks (one hop). For more data, several hops are faster.
constexpr int64_t kDirectBytes = 32 << 10;
constexpr int kDirectRanks = 8;
// A ring is used if each rank's part of the data has at least this many bytes.
// With smaller parts, the additional hops of a ring cost more time than they
// save.
constexpr int64_t kRingPartBytes = 16 << 10;

// Returns the reduction for all steps of a collective except the last. An
// average is computed as a sum, which the last step divides.
ReduceOp Partial(ReduceOp op) {
  return op == ReduceOp::kAvg ? ReduceOp::kSum : op;
}

void Combine(Reduction reduction, const void* first, const void* second,
             void* to, int64_t count) {
  const void* const sources[] = {first, second};
  Reduce(reduction.dtype, Partial(reduction.op), sources, 2, &to, 1, count);
}

absl::Status Direct(Mesh& mesh, Reduction reduction, const void* input,
                    void* output, int64_t count, Scratch& scratch) {
  const int rank = mesh.rank(), size = mesh.size();
  const int64_t bytes = count * SizeOf(reduction.dtype);
  char* const received = size == 1 ? nullptr : scratch.Get(bytes * size);
  std::vector<const void*> sources(size);
  std::vector<Ticket> tickets(size);
  for (int step = 1; step < size; ++step) {
    mesh.Send((rank + step) % size, input, bytes);
  }
  for (int from = 0; from < size; ++from) {
    sources[from] = from == rank ? input : received + bytes * from;
    if (from == rank) continue;
    tickets[from] = mesh.Receive(from, received + bytes * from, bytes);
  }
  for (int from = 0; from < size; ++from) {
    if (from == rank) continue;
    if (absl::Status s = mesh.Wait(tickets[from]); !s.ok()) return s;
  }
  // Wait until the input is sent, because Reduce overwrites it if `output` is
  // the same memory as `input`.
  if (absl::Status s = mesh.Flush(); !s.ok()) return s;
  Reduce(reduction.dtype, reduction.op, sources.data(), size, &output, 1,
         count);
  return absl::OkStatus();
}

// All-reduces by recursive doubling. If the number of ranks is not a power of
// two, some ranks send their data to a partner rank. The partner takes part on
// behalf of both and sends back the result.
absl::Status Doubling(Mesh& mesh, Reduction reduction, const void* input,
                      void* output, int64_t count, Scratch& scratch) {
  const int rank = mesh.rank(), size = mesh.size();
  const int64_t bytes = count * SizeOf(reduction.dtype);
  char* const received = scratch.Get(bytes);
  CopyUnlessSame(output, input, bytes);
  int power = 1;
  while (power * 2 <= size) power *= 2;
  const int extra = size - power;
  // The doubling needs a power of two of ranks, so `extra` ranks do not take
  // part. The first 2 * extra ranks form pairs. The odd rank of a pair sends
  // its data to the even rank, lets the even rank take part for both, and then
  // receives the result.
  if (rank < 2 * extra && rank % 2 == 1) {
    mesh.Send(rank - 1, output, bytes);
    if (absl::Status s = mesh.Flush(); !s.ok()) return s;
    return mesh.Wait(mesh.Receive(rank - 1, output, bytes));
  }
  if (rank < 2 * extra) {
    const Ticket ticket = mesh.Receive(rank + 1, received, bytes);
    if (absl::Status s = mesh.Wait(ticket); !s.ok()) return s;
    Combine(reduction, output, received, output, count);
  }
  const int place = rank < 2 * extra ? rank / 2 : rank - extra;
  for (int distance = 1; distance < power; distance *= 2) {
    const int other = place ^ distance;
    const int peer = other < extra ? other * 2 : other + extra;
    mesh.Send(peer, output, bytes);
    const Ticket ticket = mesh.Receive(peer, received, bytes);
    if (absl::Status s = mesh.Wait(ticket); !s.ok()) return s;
    if (absl::Status s = mesh.Flush(); !s.ok()) return s;
    // On both ranks of this exchange, the lower rank's data is the first
    // operand, so that the two results are bit-identical.
    const void* const lower = other < place ? received : output;
    const void* const upper = other < place ? output : received;
    Combine(reduction, lower, upper, output, count);
  }
  if (reduction.op == ReduceOp::kAvg) {
    Divide(reduction.dtype, output, count, size);
  }
  if (rank < 2 * extra) mesh.Send(rank + 1, output, bytes);
  return absl::OkStatus();
}

// A ring all_reduce. Each rank processes a chunk in pieces. It reduces and
// forwards each piece as soon as the piece arrives, so that all links are busy.
class Ring {
 public:
  Ring(Mesh& mesh, Reduction reduction, const void* input, void* output,
       int64_t count, Scratch& scratch)
      : mesh_(mesh),
        reduction_(reduction),
        element_(SizeOf(reduction.dtype)),
        input_(static_cast<const char*>(input)),
        output_(static_cast<char*>(output)),
        chunks_(RankParts::Even(count, mesh.size())),
        received_(scratch.Get(kSegmentBytes)) {}

  absl::Status Run() {
    const int rank = mesh_.rank(), size = mesh_.size();
    SendChunk(rank, input_);
    for (int step = 1; step < size; ++step) {
      const int chunk = (rank - step + size) % size;
      absl::Status s = ReduceChunk(chunk, step == size - 1 ? kLast : kEarlier);
      if (!s.ok()) return s;
    }
    for (int step = 0; step < size - 1; ++step) {
      const int chunk = (rank - step + size) % size;
      absl::Status s = CollectChunk(chunk, step == size - 2 ? kLast : kEarlier);
      if (!s.ok()) return s;
    }
    return absl::OkStatus();
  }

 private:
  enum Step { kEarlier, kLast };

  template <typename Piece>
  absl::Status ForEachPiece(int chunk, Piece piece) {
    const int64_t step = kSegmentBytes / element_;
    for (int64_t at = 0; at < chunks_.count(chunk); at += step) {
      absl::Status s = piece((chunks_.begin(chunk) + at) * element_,
                             std::min(step, chunks_.count(chunk) - at));
      if (!s.ok()) return s;
    }
    return absl::OkStatus();
  }

  int next() const { return (mesh_.rank() + 1) % mesh_.size(); }
  int previous() const {
    return (mesh_.rank() + mesh_.size() - 1) % mesh_.size();
  }

  void SendChunk(int chunk, const char* from) {
    ForEachPiece(chunk, [&](int64_t begin, int64_t count) {
      mesh_.Send(next(), from + begin, count * element_);
      return absl::OkStatus();
    }).IgnoreError();  // errors of sends are returned by Wait
  }

  // Receives each piece of a chunk from the previous rank, adds this rank's
  // data and forwards the piece to the next rank.
  absl::Status ReduceChunk(int chunk, Step step) {
    return ForEachPiece(chunk, [&](int64_t begin, int64_t count) {
      const Ticket ticket =
          mesh_.Receive(previous(), received_, count * element_);
      if (absl::Status s = mesh_.Wait(ticket); !s.ok()) return s;
      Combine(reduction_, received_, input_ + begin, output_ + begin, count);
      if (step == kLast && reduction_.op == ReduceOp::kAvg) {
        Divide(reduction_.dtype, output_ + begin, count, mesh_.size());
      }
      mesh_.Send(next(), output_ + begin, count * element_);
      return absl::OkStatus();
    });
  }

  // Receives a chunk that is completely reduced and, unless `step` is kLast,
  // forwards it to `next`. The chunk overwrites data in `output_` that this
  // rank has sent to `next`. `next` has already received this data: the reduced
  // chunk contains it.
  absl::Status CollectChunk(int chunk, Step step) {
    return ForEachPiece(chunk, [&](int64_t begin, int64_t count) {
      const Ticket ticket =
          mesh_.Receive(previous(), output_ + begin, count * element_);
      if (absl::Status s = mesh_.Wait(ticket); !s.ok()) return s;
      if (step == kEarlier) {
        mesh_.Send(next(), output_ + begin, count * element_);
      }
      return absl::OkStatus();
    });
  }

  Mesh& mesh_;
  const Reduction reduction_;
  const int64_t element_;
  const char* const input_;
  char* const output_;
  const RankParts chunks_;
  char* const received_;
};

}  // namespace

AllReduceWay WayOf(int size, int64_t bytes) {
  if (size == 1) return AllReduceWay::kDirect;
  if (bytes >= kRingPartBytes * size) return AllReduceWay::kRing;
  return size <= kDirectRanks && bytes * (size - 1) <= kDirectBytes
             ? AllReduceWay::kDirect
             : AllReduceWay::kDoubling;
}

absl::Status AllReduceOver(Mesh& mesh, AllReduceWay way, Reduction reduction,
                           const void* input, void* output, int64_t count,
                           Scratch& scratch) {
  switch (way) {
    case AllReduceWay::kDirect:
      return Direct(mesh, reduction, input, output, count, scratch);
    case AllReduceWay::kDoubling:
      return Doubling(mesh, reduction, input, output, count, scratch);
    case AllReduceWay::kRing:
      return Ring(mesh, reduction, input, output, count, scratch).Run();
  }
  return absl::OkStatus();
}

namespace {

// Broadcast and reduce divide data of more than this number of bytes among the
// ranks, which is faster: a broadcast first scatters the parts, and a reduce
// first reduces one part on each rank. Smaller data is not divided: a broadcast
// sends the data along a tree, and in a reduce the root receives the inputs of
// all ranks.
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
  // Scatter the data, then all_gather it. The root then sends only about twice
  // the size of the data, instead of all data to every other rank.
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
    // Make all elements one part, which belongs to the root. The root then
    // receives the inputs of all ranks and reduces them itself.
    std::vector<int64_t> counts(size, 0);
    counts[root] = operation.count;
    return ReduceToOwners(mesh, RankParts(counts, 0, size), reduction,
                          operation.input, operation.output, scratch);
  }
  const RankParts parts = RankParts::Even(operation.count, size);
  // Memory for this rank's part of the result. It cannot be in `scratch`, which
  // ReduceToOwners uses at the same time.
  Scratch part;
  char* const own = rank == root
                        ? At(operation.output, parts.begin(rank) * element)
                        : part.Get(parts.count(rank) * element);
  absl::Status s =
      ReduceToOwners(mesh, parts, reduction, operation.input, own, scratch);
  if (!s.ok()) return s;
  // The root's output may be the same memory as the root's input. Wait until
  // the input is sent, before data of the other ranks overwrites it.
  if (s = mesh.Flush(); !s.ok()) return s;
  s = GatherToRoot(mesh, parts, element, root, own, operation.output);
  // Wait until all sends are complete, because `part` is destroyed at the end
  // of this function.
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

// Delivers the messages of a batch that a rank sends to itself. The n-th send
// with a tag matches the n-th receive with that tag.
absl::Status MessagesToOneself(const std::vector<PointToPoint>& messages,
                               int rank) {
  // Key: a tag. Value: the sends with this tag whose receive has not been found
  // yet, in order.
  std::map<int, std::deque<const PointToPoint*>> sent;
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

// Whether a rank can finish `operation` although another rank has called a
// different operation. In this case the ranks perform a barrier after
// `operation`, in which they notice the difference.
bool SomeHearNothing(const Operation& operation, int size) {
  // An all_to_all in which each part has a length of its own (`counts`): if a
  // receiver expects another length than the sender sends, only the receiver
  // notices this. The sender gets no message about it, and can finish.
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
