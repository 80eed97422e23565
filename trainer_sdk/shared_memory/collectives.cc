#include "trainer_sdk/shared_memory/collectives.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/reduce/reduce.h"
#include "trainer_sdk/shared_memory/layout.h"

namespace muster {
namespace {

// A wait condition: every rank has published its call of collective `number`.
class Arrival final : public WaitCondition {
 public:
  Arrival(const Peers& peers, uint64_t number)
      : peers_(peers), number_(number) {}

  bool IsTrue() const override {
    // A rank never withdraws its published call. So this check need not look
    // again at ranks whose calls an earlier check has seen.
    while (next_ < peers_.size() && HasCome(next_)) ++next_;
    return next_ == peers_.size();
  }

  std::vector<int> Absent() const override {
    std::vector<int> absent;
    for (int rank = 0; rank < peers_.size(); ++rank) {
      if (!HasCome(rank)) absent.push_back(rank);
    }
    return absent;
  }

  std::string DescribeAbsent(int rank) const override {
    const Call& last = peers_.page(rank).calls[(number_ - 1) % 2];
    if (last.stamp.load() == 0) return "has called no collective yet";
    return absl::StrCat(
        "has not called it: its last collective was ",
        last.allocation != 0 ? "an allocation" : Describe(last.signature));
  }

 private:
  bool HasCome(int rank) const {
    return peers_.page(rank).calls[number_ % 2].stamp.load(
               std::memory_order_seq_cst) >= number_;
  }

  const Peers& peers_;
  const uint64_t number_;
  mutable int next_ = 0;
};

// A wait condition: every rank has reached the synchronization point number
// `phase` inside collectives. The points are counted over all collectives.
class Phase final : public WaitCondition {
 public:
  Phase(const Peers& peers, uint64_t phase) : peers_(peers), phase_(phase) {}

  bool IsTrue() const override {
    while (next_ < peers_.size() && HasCome(next_)) ++next_;
    return next_ == peers_.size();
  }

  std::vector<int> Absent() const override {
    std::vector<int> absent;
    for (int rank = 0; rank < peers_.size(); ++rank) {
      if (!HasCome(rank)) absent.push_back(rank);
    }
    return absent;
  }

  std::string DescribeAbsent(int /*rank*/) const override {
    return "has called it, but does not get on with it";
  }

 private:
  bool HasCome(int rank) const {
    return peers_.page(rank).phase.load(std::memory_order_seq_cst) >= phase_;
  }

  const Peers& peers_;
  const uint64_t phase_;
  mutable int next_ = 0;
};

// If `condition` is true, wakes the ranks that wait for it. Each rank calls
// this function after it has done its part. The condition becomes true with the
// last part, so only the last rank wakes the others.
void RingIfLast(GroupPage& group, const WaitCondition& condition) {
  if (group.bell.sleepers.load(std::memory_order_seq_cst) != 0 &&
      condition.IsTrue()) {
    Ring(group.bell);
  }
}

}  // namespace

absl::Status Agreement::Meet(const Operation& operation, const Terms& terms,
                             const Waiting& waiting) {
  ++number_;
  Call& own = peers_->own_page().calls[number_ % 2];
  own.signature = waiting.signature;
  own.offer = terms.offer;
  own.allocation = terms.allocation;
  if (terms.offer == Offer::kDirect) {
    own.input = terms.input;
    own.output = terms.output;
  }
  if (!operation.counts.empty()) PostCounts(operation);
  own.stamp.store(number_, std::memory_order_seq_cst);
  const Arrival arrival(*peers_, number_);
  RingIfLast(peers_->group(), arrival);
  absl::Status met = peers_->Await(arrival, peers_->group().bell, waiting);
  if (!met.ok()) return met;
  return Compare(operation, waiting.signature);
}

absl::Status Agreement::Step(const Waiting& waiting) {
  ++phase_;
  peers_->own_page().phase.store(phase_, std::memory_order_seq_cst);
  const Phase phase(*peers_, phase_);
  RingIfLast(peers_->group(), phase);
  return peers_->Await(phase, peers_->group().bell, waiting);
}

void Agreement::PostCounts(const Operation& operation) const {
  int64_t* const counts =
      peers_->counts(peers_->rank(), static_cast<int>(number_ % 2));
  std::copy(operation.counts.begin(), operation.counts.end(), counts);
  std::copy(operation.receive_counts.begin(), operation.receive_counts.end(),
            counts + peers_->size());
}

std::vector<int64_t> Agreement::CountsOf(int rank, int first) const {
  const int64_t* const counts =
      peers_->counts(rank, static_cast<int>(number_ % 2)) + first;
  return std::vector<int64_t>(counts, counts + peers_->size());
}

std::string Agreement::DescribeCall(int rank) const {
  const Call& call = CallOf(rank);
  if (call.allocation != 0) {
    return absl::StrCat("allocation of ", call.allocation - 1, " bytes after #",
                        call.signature.sequence);
  }
  std::string text = Describe(call.signature);
  if (call.signature.counts_hash != 0) {
    absl::StrAppend(&text, " [", absl::StrJoin(CountsOf(rank, 0), ", "), "]");
    if (call.signature.kind == OperationKind::kAllToAll) {
      absl::StrAppend(&text, " for [",
                      absl::StrJoin(CountsOf(rank, peers_->size()), ", "), "]");
    }
  }
  return text;
}

absl::Status Agreement::Compare(const Operation& operation,
                                const OperationSignature& own) const {
  const int size = peers_->size();
  bool same = true;
  for (int rank = 0; rank < size; ++rank) {
    const OperationSignature& other = CallOf(rank).signature;
    same = same && (other == own || SameCollective(other, own)) &&
           CallOf(rank).allocation == CallOf(peers_->rank()).allocation;
  }
  const bool in_lanes =
      operation.kind == OperationKind::kAllToAll && !operation.counts.empty();
  if (same && in_lanes) {
    for (int from = 0; from < size; ++from) {
      for (int to = 0; to < size; ++to) {
        same = same && SendCount(from, to) == ReceiveCount(from, to);
      }
    }
  }
  if (same) return absl::OkStatus();

  // the distinct calls, in the order of the lowest ranks that made them
  std::vector<std::string> calls;
  std::map<std::string, std::string> callers;
  for (int rank = 0; rank < size; ++rank) {
    const std::string call = DescribeCall(rank);
    std::string& who = callers[call];
    if (who.empty()) calls.push_back(call);
    absl::StrAppend(&who, who.empty() ? "" : ", ", peers_->Who(rank));
  }
  std::string text =
      absl::StrCat(Describe(own), ": ranks called different things:");
  for (const std::string& call : calls) {
    absl::StrAppend(&text, " ", callers[call], " called ", call, ";");
  }
  text.pop_back();
  return peers_->Break(absl::FailedPreconditionError(text));
}

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

namespace {

// The smallest number of bytes, sent or received by a rank in a collective, for
// which buffers in the symmetric heap are used directly. Direct use saves the
// copies to staging slots, but needs a second synchronization of all ranks. If
// ranks share cores, synchronization is slower, so kDirectFromIfCrowded
// applies.
constexpr int64_t kDirectFrom = 1 << 10;
constexpr int64_t kDirectFromIfCrowded = 16 << 10;
// The smallest size in bytes, summed over the inputs of all ranks, for which
// the ranks divide the work of a reduction. Dividing needs a second
// synchronization of all ranks, which is too slow for smaller inputs.
constexpr int64_t kSharedFrom = 64 << 10;

const char* Bytes(const void* data) { return static_cast<const char*>(data); }
char* Bytes(void* data) { return static_cast<char*>(data); }

void Copy(void* to, const void* from, int64_t bytes) {
  if (bytes > 0 && to != from) std::memcpy(to, from, bytes);
}

// Whether the ranks can divide the work of operations of this kind: the kind is
// a reduction, and all receivers get the same elements.
bool IsSharable(OperationKind kind) {
  return kind == OperationKind::kAllReduce || kind == OperationKind::kReduce;
}

bool MovesNothing(OperationKind kind) {
  return kind == OperationKind::kBarrier || kind == OperationKind::kSplit;
}

}  // namespace

absl::Status Collectives::Execute(const Operation& operation,
                                  const Waiting& waiting) {
  Run run = {operation, waiting,
             Flow(operation, peers_->rank(), peers_->size()),
             SizeOf(operation.dtype), 0};
  if (peers_->size() == 1) {
    ExecuteAlone(run);
    return absl::OkStatus();
  }
  const int64_t lanes = run.flow.one_lane() ? 1 : peers_->size();
  run.lane_elements = peers_->layout().slot_bytes() / lanes / kCacheLine *
                      kCacheLine / run.element_bytes;

  const Agreement::Terms terms = MakeTerms(run);
  if (terms.offer == Offer::kStaged) CopyIn(run, 0);
  absl::Status met = agreement_.Meet(operation, terms, waiting);
  if (!met.ok() || MovesNothing(operation.kind)) return met;
  if (AllDirect()) return Direct(run);
  if (!WasStagedByAll()) {
    if (terms.offer == Offer::kDirect) CopyIn(run, 0);
    absl::Status staged = agreement_.Step(waiting);
    if (!staged.ok()) return staged;
  }
  const int64_t all_bytes =
      operation.count * run.element_bytes * peers_->size();
  const bool shared = IsSharable(operation.kind) && peers_->size() > 2 &&
                      all_bytes >= kSharedFrom;
  return shared ? Shared(run) : Pulled(run);
}

void Collectives::ExecuteAlone(const Run& run) const {
  Copy(run.operation.output, run.operation.input,
       run.flow.ReceiveCount(0) * run.element_bytes);
}

Agreement::Terms Collectives::MakeTerms(const Run& run) const {
  const Operation& operation = run.operation;
  const int rank = peers_->rank();
  Agreement::Terms terms;
  const bool sends =
      run.flow.Sends(rank) &&
      // In a gather, the root does not make its input available, because no
      // other rank needs this input.
      !(operation.kind == OperationKind::kGather && operation.root == rank);
  if (!sends || MovesNothing(operation.kind)) return terms;
  terms.offer = Offer::kStaged;
  if (run.flow.Bytes() <
      (peers_->crowded() ? kDirectFromIfCrowded : kDirectFrom)) {
    return terms;
  }
  terms.input = heap_->Find(
      operation.input,
      run.flow.one_lane()
          ? run.flow.SendCount(0) * run.element_bytes
          : run.flow.InputOffset(peers_->size()) * run.element_bytes);
  if (terms.input.segment == 0) return terms;
  if (IsSharable(operation.kind) && run.flow.Receives(rank)) {
    terms.output =
        heap_->Find(operation.output, operation.count * run.element_bytes);
    if (terms.output.segment == 0) return terms;
  }
  terms.offer = Offer::kDirect;
  return terms;
}

bool Collectives::AllDirect() const {
  bool direct = false;
  for (int rank = 0; rank < peers_->size(); ++rank) {
    const Offer offer = agreement_.CallOf(rank).offer;
    if (offer == Offer::kStaged) return false;
    direct = direct || offer == Offer::kDirect;
  }
  return direct;
}

bool Collectives::WasStagedByAll() const {
  for (int rank = 0; rank < peers_->size(); ++rank) {
    if (agreement_.CallOf(rank).offer == Offer::kDirect) return false;
  }
  return true;
}

int64_t Collectives::Rounds(const Run& run) const {
  int64_t longest = run.flow.LongestLane();
  if (run.operation.kind == OperationKind::kAllToAll &&
      !run.operation.counts.empty()) {
    for (int from = 0; from < peers_->size(); ++from) {
      for (int to = 0; to < peers_->size(); ++to) {
        longest = std::max(longest, agreement_.SendCount(from, to));
      }
    }
  }
  // Each round of this collective uses one staging slot of each rank. Even an
  // operation without elements counts as one round, because Execute writes to
  // the slot of round 0 before it knows the calls of the other ranks.
  return std::max<int64_t>(
      1, (longest + run.lane_elements - 1) / run.lane_elements);
}

char* Collectives::Slot(int rank, int64_t round) const {
  return peers_->slot(rank,
                      static_cast<int>((next_slot_ + round) % kStagingSlots));
}

void Collectives::CopyIn(const Run& run, int64_t round) const {
  const int64_t begin = round * run.lane_elements;
  const int64_t lane_bytes = run.lane_elements * run.element_bytes;
  char* const slot = Slot(peers_->rank(), round);
  const int lanes = run.flow.one_lane() ? 1 : peers_->size();
  int64_t offset = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    const int64_t count = run.flow.SendCount(lane);
    // A lane is a sequence of elements in this rank's staging slot (shared
    // memory that the other ranks read). If the slot has only one lane, every
    // receiver reads it. Otherwise each receiver has its own lane; the lane for
    // this rank itself is not filled, because no rank reads it.
    if (lanes == 1 || lane != peers_->rank()) {
      Copy(slot + lane * lane_bytes,
           Bytes(run.operation.input) + (offset + begin) * run.element_bytes,
           std::min(run.lane_elements, count - begin) * run.element_bytes);
    }
    offset += count;
  }
}

void Collectives::Take(const Run& run, const std::vector<const void*>& sources,
                       int64_t begin, int64_t limit) const {
  char* const output = Bytes(run.operation.output);
  if (run.flow.reduces()) {
    const int64_t count = std::min(limit, run.flow.ReceiveCount(0) - begin);
    if (count <= 0) return;
    void* const to = output + begin * run.element_bytes;
    Reduce(run.operation.dtype, run.operation.reduce_op, sources.data(),
           peers_->size(), &to, 1, count);
    return;
  }
  int64_t offset = 0;
  for (int sender = 0; sender < peers_->size(); ++sender) {
    if (!run.flow.Sends(sender)) continue;
    const int64_t count = run.flow.ReceiveCount(sender);
    Copy(output + (offset + begin) * run.element_bytes, sources[sender],
         std::min(limit, count - begin) * run.element_bytes);
    offset += count;
  }
}

absl::Status Collectives::Pulled(const Run& run) {
  const int rank = peers_->rank();
  const int64_t rounds = Rounds(run);
  const int64_t lane_bytes = run.lane_elements * run.element_bytes;
  const int64_t lane = run.flow.one_lane() ? 0 : rank;
  const int64_t own_offset = run.flow.InputOffset(rank);
  std::vector<const void*> sources(peers_->size());
  for (int64_t round = 0; round < rounds; ++round) {
    const int64_t begin = round * run.lane_elements;
    if (run.flow.Receives(rank)) {
      for (int sender = 0; sender < peers_->size(); ++sender) {
        sources[sender] = Slot(sender, round) + lane * lane_bytes;
      }
      if (run.flow.Sends(rank)) {
        sources[rank] = Bytes(run.operation.input) +
                        (own_offset + begin) * run.element_bytes;
      }
      Take(run, sources, begin, run.lane_elements);
    }
    if (round + 1 == rounds) break;
    if (run.flow.Sends(rank)) CopyIn(run, round + 1);
    absl::Status together = agreement_.Step(run.waiting);
    if (!together.ok()) return together;
  }
  next_slot_ += rounds;
  return absl::OkStatus();
}

absl::Status Collectives::Shared(const Run& run) {
  const Operation& operation = run.operation;
  const int rank = peers_->rank();
  const int size = peers_->size();
  const int64_t rounds = Rounds(run);
  const int64_t per_line = kCacheLine / run.element_bytes;
  std::vector<const void*> sources(size);
  for (int64_t round = 0; round < rounds; ++round) {
    const int64_t begin = round * run.lane_elements;
    const int64_t count = std::min(run.lane_elements, operation.count - begin);
    const int64_t share = ShareBegin(count, rank, size, per_line);
    for (int sender = 0; sender < size; ++sender) {
      sources[sender] = Slot(sender, round) + share * run.element_bytes;
    }
    // Until the next synchronization, only this rank reads its share of the
    // elements in all slots. So the result may overwrite this share in the
    // rank's own slot.
    void* const to = Slot(rank, round) + share * run.element_bytes;
    Reduce(operation.dtype, operation.reduce_op, sources.data(), size, &to, 1,
           ShareBegin(count, rank + 1, size, per_line) - share);
    if (round + 1 < rounds) CopyIn(run, round + 1);
    absl::Status together = agreement_.Step(run.waiting);
    if (!together.ok()) return together;
    if (!run.flow.Receives(rank)) continue;
    for (int owner = 0; owner < size; ++owner) {
      const int64_t first = ShareBegin(count, owner, size, per_line);
      const int64_t last = ShareBegin(count, owner + 1, size, per_line);
      Copy(Bytes(operation.output) + (begin + first) * run.element_bytes,
           Slot(owner, round) + first * run.element_bytes,
           (last - first) * run.element_bytes);
    }
  }
  next_slot_ += rounds;
  return absl::OkStatus();
}

absl::Status Collectives::Direct(const Run& run) {
  const Operation& operation = run.operation;
  const int rank = peers_->rank();
  const int size = peers_->size();
  std::vector<const void*> sources(size);
  for (int sender = 0; sender < size; ++sender) {
    if (sender == rank) {
      sources[sender] = operation.input;
    } else if (agreement_.CallOf(sender).offer == Offer::kDirect) {
      sources[sender] = heap_->At(sender, agreement_.CallOf(sender).input);
    }
  }
  if (IsSharable(operation.kind)) {
    const int64_t per_line = kCacheLine / run.element_bytes;
    const int64_t share = ShareBegin(operation.count, rank, size, per_line);
    const int64_t end = ShareBegin(operation.count, rank + 1, size, per_line);
    std::vector<void*> outputs;
    for (int receiver = 0; receiver < size; ++receiver) {
      sources[receiver] = Bytes(sources[receiver]) + share * run.element_bytes;
      if (!run.flow.Receives(receiver)) continue;
      char* const output =
          receiver == rank
              ? Bytes(operation.output)
              : heap_->At(receiver, agreement_.CallOf(receiver).output);
      outputs.push_back(output + share * run.element_bytes);
    }
    Reduce(operation.dtype, operation.reduce_op, sources.data(), size,
           outputs.data(), static_cast<int>(outputs.size()), end - share);
  } else if (run.flow.Receives(rank)) {
    for (int sender = 0; sender < size; ++sender) {
      if (!run.flow.Sends(sender)) continue;
      int64_t offset = run.flow.InputOffset(rank);
      if (operation.kind == OperationKind::kAllToAll &&
          !operation.counts.empty()) {
        offset = 0;
        for (int to = 0; to < rank; ++to) {
          offset += agreement_.SendCount(sender, to);
        }
      }
      sources[sender] = Bytes(sources[sender]) + offset * run.element_bytes;
    }
    Take(run, sources, 0, run.flow.LongestLane());
  }
  return agreement_.Step(run.waiting);
}

absl::StatusOr<std::unique_ptr<TransportMemory>> Collectives::Allocate(
    int64_t bytes, const Waiting& waiting) {
  Agreement::Terms terms;
  terms.allocation = 1 + bytes;
  absl::Status together = agreement_.Meet(Operation(), terms, waiting);
  if (!together.ok()) return together;
  absl::StatusOr<std::shared_ptr<HeapSegment>> segment =
      heap_->Create(bytes, waiting);
  if (peers_->broken()) return peers_->cause();
  peers_->own_page().allocation_failed = segment.ok() ? 0 : 1;
  together = agreement_.Step(waiting);
  if (!together.ok()) return together;
  if (!segment.ok()) return segment.status();
  for (int rank = 0; rank < peers_->size(); ++rank) {
    if (peers_->page(rank).allocation_failed != 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat(peers_->Who(rank), " has no room for its part of ",
                       bytes, " bytes of shared memory"));
    }
  }
  return heap_->Add(*std::move(segment));
}

}  // namespace muster
