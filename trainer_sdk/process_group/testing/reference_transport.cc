#include "trainer_sdk/process_group/testing/reference_transport.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/message_text.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/process_group/element.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/process_group/testing/element_values.h"

namespace muster {
namespace {

class Computation {
 public:
  explicit Computation(const std::vector<const Operation*>& ranks)
      : ranks_(ranks),
        first_(*ranks[0]),
        width_(SizeOf(first_.dtype)),
        size_(static_cast<int>(ranks.size())) {
    // All inputs are copied before any output is written, because the output of
    // an operation in place overwrites its input.
    for (int rank = 0; rank < size_; rank++) {
      inputs_.emplace_back(
          static_cast<const char*>(ranks[rank]->input),
          ranks[rank]->input == nullptr ? 0 : InputLength(rank) * width_);
    }
  }

  void Run() {
    for (int rank = 0; rank < size_; rank++) {
      const bool is_root = rank == first_.root;
      switch (first_.kind) {
        case OperationKind::kAllReduce:
          Reduce(rank, 0, first_.count);
          break;
        case OperationKind::kReduce:
          if (is_root) Reduce(rank, 0, first_.count);
          break;
        case OperationKind::kReduceScatter:
          Reduce(rank, Offset(rank), Part(rank));
          break;
        case OperationKind::kBroadcast:
          Copy(rank, 0, first_.root, 0, first_.count);
          break;
        case OperationKind::kScatter:
          Copy(rank, 0, first_.root, Offset(rank), Part(rank));
          break;
        case OperationKind::kGather:
          if (!is_root) break;
          [[fallthrough]];
        case OperationKind::kAllGather:
          for (int i = 0; i < size_; i++) {
            Copy(rank, Offset(i), i, 0, Part(i));
          }
          break;
        case OperationKind::kAllToAll:
          Exchange(rank);
          break;
        default:
          break;
      }
    }
  }

 private:
  int64_t Part(int rank) const {
    return first_.counts.empty() ? first_.count : first_.counts[rank];
  }
  int64_t Offset(int rank) const {
    int64_t offset = 0;
    for (int i = 0; i < rank; i++) offset += Part(i);
    return offset;
  }
  int64_t Sent(int from, int to) const {
    return ranks_[from]->counts.empty() ? first_.count
                                        : ranks_[from]->counts[to];
  }
  int64_t InputLength(int rank) const {
    const bool is_root = rank == first_.root;
    switch (first_.kind) {
      case OperationKind::kAllReduce:
      case OperationKind::kReduce:
        return first_.count;
      case OperationKind::kBroadcast:
        return is_root ? first_.count : 0;
      case OperationKind::kReduceScatter:
        return Offset(size_);
      case OperationKind::kScatter:
        return is_root ? Offset(size_) : 0;
      case OperationKind::kGather:
      case OperationKind::kAllGather:
        return Part(rank);
      case OperationKind::kAllToAll: {
        int64_t length = 0;
        for (int i = 0; i < size_; i++) length += Sent(rank, i);
        return length;
      }
      default:
        return 0;
    }
  }

  char* Output(int rank, int64_t at) const {
    return static_cast<char*>(ranks_[rank]->output) + at * width_;
  }
  void Copy(int to, int64_t at, int from, int64_t begin, int64_t count) {
    if (count == 0) return;
    std::memcpy(Output(to, at), inputs_[from].data() + begin * width_,
                count * width_);
  }
  void Exchange(int rank) {
    int64_t at = 0;
    for (int from = 0; from < size_; from++) {
      int64_t begin = 0;
      for (int i = 0; i < rank; i++) begin += Sent(from, i);
      Copy(rank, at, from, begin, Sent(from, rank));
      at += Sent(from, rank);
    }
  }
  void Reduce(int rank, int64_t begin, int64_t count) {
    std::vector<double> values(size_);
    for (int64_t i = 0; i < count; i++) {
      for (int from = 0; from < size_; from++) {
        values[from] = DecodeElement(
            first_.dtype, inputs_[from].data() + (begin + i) * width_);
      }
      EncodeElement(ReferenceReduction(values, first_.dtype, first_.reduce_op),
                    first_.dtype, Output(rank, i));
    }
  }

  const std::vector<const Operation*>& ranks_;
  const Operation& first_;
  const int64_t width_;
  const int size_;
  std::vector<std::string> inputs_;
};

// Performs one collective for all ranks of one process at once. `ranks` holds
// each rank's operation, in rank order; these operations must match.
void ComputeCollective(const std::vector<const Operation*>& ranks) {
  Computation(ranks).Run();
}

// A room: the state that the ranks of one group share. Thread-safe.
class Room {
 public:
  explicit Room(int size) : size_(size), asked_(size, nullptr) {}

  absl::Status Collective(int rank, const Operation& operation,
                          const OperationContext& context) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!broken_.ok()) return broken_;
    asked_[rank] = &operation;
    signatures_[rank] = SignatureOf(operation, context.sequence);
    const uint64_t turn = turn_;
    if (++here_ == size_) {
      absl::Status agreed = Agreement();
      if (!agreed.ok()) return Break(agreed);
      ComputeCollective(asked_);
      asked_.assign(size_, nullptr);
      here_ = 0;
      turn_++;
      changed_.notify_all();
      return absl::OkStatus();
    }
    const auto done = [&] { return turn_ != turn || !broken_.ok(); };
    if (!changed_.wait_until(lock, ToSteady(context.deadline), done)) {
      std::vector<int> absent;
      for (int i = 0; i < size_; i++) {
        if (asked_[i] == nullptr) absent.push_back(i);
      }
      return Break(absl::DeadlineExceededError(
          absl::StrCat(Describe(signatures_[rank]), ": ", RankRanges(absent),
                       " did not come in time")));
    }
    return turn_ != turn ? absl::OkStatus() : broken_;
  }

  absl::Status Messages(int rank, const Operation& operation,
                        const OperationContext& context) {
    std::vector<PointToPoint> wanted = operation.messages;
    if (operation.kind == OperationKind::kSend) {
      wanted = {BatchSend(operation.input, operation.count, operation.dtype,
                          operation.root, operation.tag)};
    } else if (operation.kind == OperationKind::kReceive) {
      wanted = {BatchReceive(operation.output, operation.count, operation.dtype,
                             operation.root, operation.tag)};
    }
    std::unique_lock<std::mutex> lock(mutex_);
    if (!broken_.ok()) return broken_;
    int open = static_cast<int>(wanted.size());
    for (const PointToPoint& message : wanted) {
      posted_.push_back({rank, message, &open});
    }
    absl::Status status = Match();
    if (!status.ok()) return Break(status);
    changed_.notify_all();
    const auto done = [&] { return open == 0 || !broken_.ok(); };
    if (!changed_.wait_until(lock, ToSteady(context.deadline), done)) {
      return Break(absl::DeadlineExceededError(
          absl::StrCat(Describe(SignatureOf(operation, context.sequence)),
                       ": the peer did not come in time")));
    }
    return open == 0 ? absl::OkStatus() : broken_;
  }

  void Abort(const std::string& reason) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Break(absl::AbortedError(reason));
  }

 private:
  struct Posted {
    int rank;
    PointToPoint message;
    // The number of undelivered messages of the operation (a send, receive or
    // batch) to which this message belongs.
    int* open;
  };

  // Breaks the group with `cause` unless the group is broken already; returns
  // the first cause. The caller holds mutex_.
  const absl::Status& Break(absl::Status cause) {
    if (broken_.ok()) {
      broken_ = std::move(cause);
      posted_.clear();
      changed_.notify_all();
    }
    return broken_;
  }

  absl::Status Agreement() const {
    std::string asked;
    bool agree = true;
    for (int i = 0; i < size_; i++) {
      agree &= SameCollective(signatures_.at(0), signatures_.at(i));
      absl::StrAppend(&asked, i == 0 ? "" : "; ", "rank ", i, " called ",
                      Describe(signatures_.at(i)));
    }
    return agree ? LanesFit() : absl::FailedPreconditionError(asked);
  }

  // Checks the counts of an all_to_all with counts: for each pair of ranks, the
  // sender must have passed the same count as the receiver.
  absl::Status LanesFit() const {
    if (asked_[0]->kind != OperationKind::kAllToAll ||
        asked_[0]->counts.empty()) {
      return absl::OkStatus();
    }
    for (int from = 0; from < size_; from++) {
      for (int to = 0; to < size_; to++) {
        const int64_t sent = asked_[from]->counts[to];
        const int64_t awaited = asked_[to]->receive_counts[from];
        if (sent == awaited) continue;
        return absl::FailedPreconditionError(
            absl::StrCat("rank ", from, " sends ", sent, " where rank ", to,
                         " waits for ", awaited));
      }
    }
    return absl::OkStatus();
  }

  // Delivers every message whose send and receive have both been posted.
  absl::Status Match() {
    for (auto to = posted_.begin(); to != posted_.end();) {
      auto from = posted_.begin();
      while (from != posted_.end() &&
             !(to->message.kind == OperationKind::kReceive &&
               from->message.kind == OperationKind::kSend &&
               from->rank == to->message.peer &&
               to->rank == from->message.peer &&
               from->message.tag == to->message.tag)) {
        ++from;
      }
      if (from == posted_.end()) {
        ++to;
        continue;
      }
      const PointToPoint& sent = from->message;
      if (sent.count != to->message.count || sent.dtype != to->message.dtype) {
        return absl::FailedPreconditionError(
            absl::StrCat("rank ", from->rank, " sends ", sent.count, " ",
                         Name(sent.dtype), ", rank ", to->rank, " waits for ",
                         to->message.count, " ", Name(to->message.dtype)));
      }
      if (sent.count > 0) {
        std::memcpy(to->message.data, sent.data,
                    sent.count * SizeOf(sent.dtype));
      }
      --*from->open;
      --*to->open;
      posted_.erase(from);
      to = posted_.erase(to);
    }
    return absl::OkStatus();
  }

  const int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<const Operation*> asked_;
  std::map<int, OperationSignature> signatures_;
  int here_ = 0;
  uint64_t turn_ = 0;
  std::list<Posted> posted_;  // messages not yet delivered, oldest first
  absl::Status broken_;
};

class ReferenceTransport final : public Transport {
 public:
  ReferenceTransport(std::shared_ptr<Room> room, int rank)
      : room_(std::move(room)), rank_(rank) {}

  const char* name() const override { return "reference"; }

  absl::Status Execute(const Operation& operation,
                       const OperationContext& context) override {
    return IsPointToPoint(operation.kind)
               ? room_->Messages(rank_, operation, context)
               : room_->Collective(rank_, operation, context);
  }

  void Abort(const std::string& reason) override {
    room_->Abort(absl::StrCat("aborted by rank ", rank_, ": ", reason));
  }

  absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t, const OperationContext&) override {
    return absl::UnimplementedError("memory is plain here");
  }

 private:
  const std::shared_ptr<Room> room_;
  const int rank_;
};

// The rooms of all groups that a test makes, by name; a room is the state that
// the ranks of a group share. No room is ever removed. So a rank that enters
// after the others have left still finds out whether the group is broken.
class Rooms {
 public:
  std::shared_ptr<Room> Enter(const std::string& name, int size) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<Room>& room = rooms_[name];
    if (room == nullptr) room = std::make_shared<Room>(size);
    return room;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Room>> rooms_;
};

}  // namespace

TransportFactory ReferenceTransports() {
  auto rooms = std::make_shared<Rooms>();
  auto made = std::make_shared<std::atomic<int64_t>>(0);
  return [rooms, made](
             const GroupPlace& place,
             Instant deadline) -> absl::StatusOr<std::unique_ptr<Transport>> {
    // Several groups may have the same name, so rank 0 adds a number to the
    // name of the group's room (its shared state).
    if (place.rank == 0) {
      const absl::Status status = place.store->Set(
          "room", absl::StrCat(place.name, " ", made->fetch_add(1)));
      if (!status.ok()) return status;
    }
    const absl::StatusOr<std::string> name = place.store->Get("room", deadline);
    if (!name.ok()) return name.status();
    std::unique_ptr<Transport> transport = std::make_unique<ReferenceTransport>(
        rooms->Enter(*name, place.size), place.rank);
    // Wait until all ranks have entered the group's room (its shared state). No
    // operation may begin before that: a rank that fails can end the operations
    // of its peers only if it has entered the room.
    const absl::StatusOr<int64_t> here = place.store->Add("here", 1);
    if (!here.ok()) return here.status();
    if (*here == place.size) {
      const absl::Status status = place.store->Set("all", "here");
      if (!status.ok()) return status;
    }
    const absl::Status status = place.store->Wait({"all"}, deadline);
    if (status.ok()) return transport;
    // The wait for the other ranks failed. Abort ends the operations of the
    // ranks that have entered the group's room (its shared state) already.
    transport->Abort(
        absl::StrCat("rank ", place.rank, ": ", std::string(status.message())));
    return status;
  };
}

}  // namespace muster
