#include "trainer_sdk/process_group/process_group.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/message_text.h"
#include "base/monotonic_clock.h"
#include "base/time.h"
#include "trainer_sdk/flight_recorder/flight_recorder.h"
#include "trainer_sdk/process_group/argument_check.h"
#include "trainer_sdk/process_group/failure_record.h"
#include "trainer_sdk/process_group/formation.h"
#include "trainer_sdk/process_group/last_operations.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/process_group/split.h"
#include "trainer_sdk/process_group/transport.h"
#include "trainer_sdk/process_group/world_ranks.h"
#include "trainer_sdk/progress/progress.h"
#include "trainer_sdk/rank_time/rank_time.h"
#include "trainer_sdk/store/in_process_store.h"
#include "trainer_sdk/store/prefix_store.h"

namespace muster {

absl::Status Work::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  completed_changed_.wait(lock, [&] { return completed_; });
  return status_;
}

absl::Status Work::Wait(Instant deadline) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!completed_changed_.wait_until(lock, ToSteady(deadline),
                                     [&] { return completed_; })) {
    return absl::DeadlineExceededError("the operation is still under way");
  }
  return status_;
}

bool Work::is_completed() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return completed_;
}

absl::Status Work::status() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return completed_ ? status_
                    : absl::FailedPreconditionError(
                          "the operation is still under way");
}

void Work::Complete(absl::Status status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  MUSTER_CHECK(!completed_) << "a work is completed twice";
  completed_ = true;
  status_ = std::move(status);
  completed_changed_.notify_all();
}

namespace {

constexpr uint64_t kNotNumbered = ~uint64_t{0};

// The group's record of one call of Run or Start.
struct GroupCall {
  OperationContext context{kNotNumbered, Instant()};
  OperationSignature signature;
  uint64_t record = 0;  // number of the operation in the flight recorder
  Instant called{};
  Instant begun{};  // time at which the operation reached the head of the queue
};

// A started operation that waits for earlier operations of the group.
struct QueuedCall {
  Operation operation;
  GroupCall call;
  std::shared_ptr<Work> work;
};

class PlainMemory final : public TransportMemory {
 public:
  PlainMemory(int64_t bytes, void* block)
      : bytes_(bytes), block_(block, std::free) {}
  void* data() const override { return block_.get(); }
  int64_t bytes() const override { return bytes_; }

 private:
  const int64_t bytes_;
  const std::unique_ptr<void, decltype(&std::free)> block_;
};

// Allocates ordinary host memory, for transports that have no memory of their
// own. `bytes` must not be negative. ResourceExhausted: not enough memory.
absl::StatusOr<std::unique_ptr<TransportMemory>> NewPlainMemory(int64_t bytes) {
  // Round the size up to whole cache lines (64 bytes), so that the last line of
  // the block is not shared with other data. If rounding would overflow,
  // allocate nothing.
  void* const block = bytes > std::numeric_limits<int64_t>::max() - 64
                          ? nullptr
                          : std::aligned_alloc(64, (bytes + 64) / 64 * 64);
  if (block == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", bytes, " bytes"));
  }
  return std::make_unique<PlainMemory>(bytes, block);
}

// Returns text to append to the error message of an operation that timed out.
// The text says how long the operation waited for earlier operations
// (`behind`), and how long after its call it timed out (`whole`, which includes
// `behind`). Empty if `behind` is less than 1 ms. Pure.
std::string TellQueue(Duration behind, Duration whole) {
  if (behind < std::chrono::milliseconds(1)) return "";
  return "; its time was up " + SecondsText(whole) + " after its call, " +
         SecondsText(behind) + " of them behind earlier operations";
}

// The longest time for which a rank tries to report a failure through the
// store, which may be unreachable.
constexpr Duration kStoreTimeout = std::chrono::seconds(1);

// Whether the group stays usable after an operation that returned `status`.
bool GoesOn(const absl::Status& status) {
  return status.ok() || absl::IsInvalidArgument(status) ||
         absl::IsUnimplemented(status);
}

}  // namespace

// The state of a group. If `busy_` is true, one thread owns the transport: a
// thread that calls Run, Allocate or Split, or the group's worker thread.
// Started operations get the transport in the order of their calls. Ownership
// changes under mutex_.
class ProcessGroup::Body {
 public:
  Body(GroupPlace place, TransportFactory factory, ProcessGroupOptions options,
       std::unique_ptr<Transport> transport)
      : place_(std::move(place)),
        factory_(std::move(factory)),
        options_(std::move(options)),
        transport_(std::move(transport)),
        recorder_(options_.recorder != nullptr ? *options_.recorder
                                               : FlightRecorder::Process()),
        recorded_group_(recorder_.AddGroup(place_.name, place_.rank,
                                           place_.size, options_.global_ranks,
                                           place_.birth, MonotonicNow())) {}

  ~Body() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
      if (busy_) transport_->Abort("the group is being destroyed");
      changed_.notify_all();
    }
    if (worker_.joinable()) worker_.join();
    recorder_.RemoveGroup(recorded_group_);
  }

  const GroupPlace& place() const { return place_; }
  const ProcessGroupOptions& options() const { return options_; }
  const Transport& transport() const { return *transport_; }

  absl::Status Run(const Operation& operation, CallOptions options) {
    absl::Status wrong = Check(operation);
    if (!wrong.ok()) return wrong;
    const Instant now = MonotonicNow();
    GroupCall call;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!broken_.ok()) return broken_;
      if (!busy_ && queue_.empty()) {
        busy_ = true;
        call = Number(operation, options, now);
      }
    }
    if (call.context.sequence == kNotNumbered) {
      return Start(operation, options)->Wait();
    }
    call.record = recorder_.QueueAndStart(recorded_group_, call.signature,
                                          Bytes(operation, place_.size), now,
                                          BatchPeersOf(operation));
    absl::Status status = Perform(operation, call);
    Release();
    return status;
  }

  std::shared_ptr<Work> Start(Operation operation, CallOptions options) {
    auto work = std::make_shared<Work>();
    const absl::Status wrong = Check(operation);
    if (!wrong.ok()) {
      work->Complete(wrong);
      return work;
    }
    const Instant now = MonotonicNow();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!broken_.ok()) {
      work->Complete(broken_);
      return work;
    }
    // Start the worker thread before the operation gets its sequence number. If
    // the system has no thread left, the call fails and uses no number. The
    // numbers of this rank then still match those of its peers.
    if (!worker_.joinable()) {
      try {
        worker_ = std::thread([this] { Serve(); });
      } catch (const std::system_error& error) {
        work->Complete(absl::ResourceExhaustedError(
            absl::StrCat("group ", place_.name,
                         ": no thread for operations: ", error.what())));
        return work;
      }
    }
    QueuedCall queued;
    queued.call = Number(operation, options, now);
    queued.call.record = recorder_.Queue(recorded_group_, queued.call.signature,
                                         Bytes(operation, place_.size), now,
                                         BatchPeersOf(operation));
    queued.operation = std::move(operation);
    queued.work = work;
    queue_.push_back(std::move(queued));
    changed_.notify_all();
    return work;
  }

  absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t bytes, CallOptions options) {
    if (bytes < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "group ", place_.name, ": Allocate of ", bytes, " bytes"));
    }
    OperationContext context;
    context.deadline = DeadlineOf(options, MonotonicNow());
    const absl::Status turn = TakeTurn(context.deadline);
    if (!turn.ok()) return turn;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      context.sequence = ++sequence_;
    }
    auto memory = transport_->Allocate(bytes, context);
    if (absl::IsUnimplemented(memory.status())) {
      memory = NewPlainMemory(bytes);
    }
    if (absl::IsResourceExhausted(memory.status())) {
      // Too little host memory does not affect the transport, so the group
      // stays usable.
      memory = Named(memory.status());
    } else if (!GoesOn(memory.status())) {
      ReportFailure(memory.status());
      memory = Break(Named(memory.status()));
    }
    Release();
    return memory;
  }

  absl::StatusOr<std::unique_ptr<ProcessGroup>> Split(int color, int key,
                                                      const std::string& label,
                                                      CallOptions options) {
    const Instant deadline = DeadlineOf(options, MonotonicNow());
    const absl::Status turn = TakeTurn(deadline);
    if (!turn.ok()) return turn;
    const GroupCall call = NumberSplit(deadline);
    auto group = SplitAsFormation(color, key, label, call.context);
    recorder_.End(call.record, MonotonicNow(), group.status().code());
    if (!group.ok() && !absl::IsUnimplemented(group.status())) {
      // Break this group, because the Split cannot be retried: ranks that
      // already have their new group would not call Split again. Abort releases
      // peers that are blocked in an operation.
      transport_->Abort(std::string(group.status().message()));
      group = Break(group.status());
    }
    Release();
    return group;
  }

  void Abort(const std::string& reason) {
    const absl::Status cause = absl::AbortedError(
        absl::StrCat("group ", place_.name, " was aborted: ", reason));
    std::shared_ptr<Formation> split;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!broken_.ok()) return;
      broken_ = cause;
      split = split_;
      // Wake the threads whose calls wait for earlier operations of the group.
      // These calls then fail at once, because the group is broken.
      changed_.notify_all();
    }
    if (split != nullptr) split->Interrupt(cause);
    transport_->Abort(reason);
    ReportFailure(cause);
  }

  absl::Status status() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return broken_;
  }

 private:
  absl::Status Named(const absl::Status& status) const {
    return NamedAfter(place_, InWorldRanks(status, options_.global_ranks));
  }

  absl::Status Check(const Operation& operation) const {
    const absl::Status status =
        CheckArguments(operation, place_.rank, place_.size);
    return status.ok() ? status : Named(status);
  }

  Instant DeadlineOf(const CallOptions& options, Instant now) const {
    return now +
           (options.timeout == Duration() ? options_.timeout : options.timeout);
  }

  // Makes the record of a call of `operation`, with its sequence number. A
  // collective gets the group's next sequence number; a send, receive or batch
  // gets the number of the last collective. The caller holds mutex_.
  GroupCall Number(const Operation& operation, const CallOptions& options,
                   Instant now) {
    if (!IsPointToPoint(operation.kind)) sequence_++;
    GroupCall call;
    call.context.sequence = sequence_;
    call.context.deadline = DeadlineOf(options, now);
    call.called = call.begun = now;
    call.signature = SignatureOf(operation, sequence_);
    return call;
  }

  // Blocks until the queue is empty and no thread owns the transport. The
  // calling thread then owns the transport until it calls Release.
  absl::Status TakeTurn(Instant deadline) {
    std::unique_lock<std::mutex> lock(mutex_);
    const bool came = changed_.wait_until(lock, ToSteady(deadline), [&] {
      return (!busy_ && queue_.empty()) || !broken_.ok();
    });
    if (!broken_.ok()) return broken_;
    if (!came) {
      return absl::DeadlineExceededError(absl::StrCat(
          "group ", place_.name, ": earlier operations were not done in time"));
    }
    busy_ = true;
    return absl::OkStatus();
  }

  void Release() {
    const std::lock_guard<std::mutex> lock(mutex_);
    busy_ = false;
    // Call notify_all even if no thread waits: in this case it makes no system
    // call, so it costs little.
    changed_.notify_all();
  }

  // Performs an operation in the group's transport. The calling thread must own
  // the transport (TakeTurn).
  absl::Status Perform(const Operation& operation, const GroupCall& call) {
    RankTime& time = RankTime::Process();
    if (IsPointToPoint(operation.kind) || !transport_->WaitsForPeers()) {
      time.Stop();
    }
    time.Enter(call.begun);
    absl::Status status = transport_->Execute(operation, call.context);
    const Instant ended = MonotonicNow();
    if (time.Exit(ended)) ReportRankTime(ended);
    recorder_.End(call.record, ended, status.code());
    if (status.ok()) return status;
    if (GoesOn(status)) return Named(status);
    return Explain(status, call);
  }

  // Breaks the group with `status`. After a timeout, adds to the message which
  // operations the peers called.
  absl::Status Explain(const absl::Status& status, const GroupCall& call) {
    const Instant failed = MonotonicNow();
    // Peers that are still blocked fail at their own deadline, or earlier
    // because of this Abort.
    transport_->Abort(std::string(status.message()));
    std::string message(status.message());
    const bool late = absl::IsDeadlineExceeded(status);
    const Duration wait =
        late ? options_.explanation_timeout : Duration::zero();
    const std::string differences =
        ExchangeLastOperations(place_, call.signature, status, wait);
    if (!differences.empty()) absl::StrAppend(&message, "; ", differences);
    if (late) {
      message += TellQueue(call.begun - call.called, failed - call.called);
    }
    return Break(Named(absl::Status(status.code(), message)));
  }

  // Breaks the group with `cause` unless the group is broken already. Returns
  // the cause for which the group is broken.
  absl::Status Break(const absl::Status& cause) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!broken_.ok()) return broken_;
      broken_ = cause;
      changed_.notify_all();
    }
    const absl::Status dumped =
        recorder_.Fail(place_.name, std::string(cause.message()));
    // Ignore an error of the flight recorder's dump, because the caller needs
    // the cause of the group's failure instead.
    dumped.IgnoreError();
    return cause;
  }

  // Writes `cause` to the store. Ranks that are blocked in a Split watch the
  // store, and so learn of the failure; the transport does not notify them.
  void ReportFailure(const absl::Status& cause) const {
    if (place_.size == 1) return;
    FailureRecord(place_.store, place_.rank, kStoreTimeout)
        .Settle(cause)
        .IgnoreError();
  }

  // Gives a Split the next sequence number of this group's collectives, and
  // adds the Split to the flight recorder.
  GroupCall NumberSplit(Instant deadline) {
    GroupCall call;
    call.context.deadline = deadline;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      call.context.sequence = ++sequence_;
    }
    call.signature = SignatureOf(SplitOperation(), call.context.sequence);
    call.record = recorder_.QueueAndStart(recorded_group_, call.signature, 0,
                                          MonotonicNow());
    return call;
  }

  // Performs a Split under a Formation: a failure of any rank ends the Split on
  // all ranks.
  absl::StatusOr<std::unique_ptr<ProcessGroup>> SplitAsFormation(
      int color, int key, const std::string& label,
      const OperationContext& context) {
    auto formation =
        Formation::Begin(place_.store, place_.rank, context.deadline);
    if (!formation.ok()) return Named(formation.status());
    absl::Status broken;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      split_ = *formation;
      broken = broken_;
    }
    // If the group was aborted before this Formation existed, Abort could not
    // interrupt the Split. In this case, interrupt the Split here.
    if (!broken.ok()) (*formation)->Interrupt(broken);
    auto group = SplitInTurn(color, key, label, *formation, context);
    if (!group.ok() && !absl::IsUnimplemented(group.status())) {
      group = Named((*formation)->Fail(group.status()));
    }
    (*formation)->End();
    return group;
  }

  absl::StatusOr<std::unique_ptr<ProcessGroup>> SplitInTurn(
      int color, int key, const std::string& label,
      const std::shared_ptr<Formation>& formation,
      const OperationContext& context) {
    const Instant deadline = context.deadline;
    const absl::Status met = MeetToSplit(*transport_, formation, context);
    if (!met.ok()) return met;
    const int number = ++splits_;
    const std::string prefix = absl::StrCat("split", number);
    PrefixStore table_store(
        prefix, std::make_shared<FormingStore>(place_.store, formation));
    const auto choices = ExchangeChoices(table_store, place_.rank, place_.size,
                                         {color, key}, deadline);
    if (!choices.ok()) return choices.status();
    const std::vector<int> members = MembersOf(*choices, place_.rank);
    ProcessGroupOptions options = options_;
    GroupPlace place =
        PartOf(place_, options_.global_ranks, members, color,
               {.number = number, .prefix = prefix, .label = label},
               &options.global_ranks);
    place.global_ranks = options.global_ranks;
    GroupPlace forming = place;
    forming.formation = formation;
    auto transport = SplitTransport(color, key, std::move(forming), deadline);
    if (!transport.ok()) return transport.status();
    if (*transport == nullptr) return std::unique_ptr<ProcessGroup>();
    return std::unique_ptr<ProcessGroup>(new ProcessGroup(
        std::make_unique<Body>(std::move(place), factory_, std::move(options),
                               *std::move(transport))));
  }

  // Makes the transport of the new group to which this rank belongs; null for a
  // negative color.
  absl::StatusOr<std::unique_ptr<Transport>> SplitTransport(int color, int key,
                                                            GroupPlace place,
                                                            Instant deadline) {
    TransportFactory factory = factory_;
    if (options_.splitter != nullptr) {
      factory = [&](GroupPlace part, Instant until) {
        return options_.splitter(*transport_, color, key, std::move(part),
                                 until);
      };
    } else if (color < 0) {
      return std::unique_ptr<Transport>();
    }
    return FormTransport(factory, std::move(place), deadline);
  }

  // The worker thread's main function: performs the queued operations.
  void Serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock,
                    [&] { return stopping_ || (!busy_ && !queue_.empty()); });
      if (stopping_) break;
      busy_ = true;
      QueuedCall queued = std::move(queue_.front());
      queue_.pop_front();
      absl::Status status = broken_;
      lock.unlock();
      if (status.ok()) {
        queued.call.begun = MonotonicNow();
        recorder_.Start(queued.call.record, queued.call.begun);
        status = Perform(queued.operation, queued.call);
      }
      Release();
      queued.work->Complete(std::move(status));
      lock.lock();
    }
    for (QueuedCall& queued : queue_) {
      queued.work->Complete(absl::AbortedError(absl::StrCat(
          "group ", place_.name, " was destroyed before its turn")));
    }
    queue_.clear();
  }

  const GroupPlace place_;
  const TransportFactory factory_;
  const ProcessGroupOptions options_;
  const std::unique_ptr<Transport> transport_;
  FlightRecorder& recorder_;
  const int recorded_group_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // mutex_ guards the members from queue_ to split_.
  std::deque<QueuedCall> queue_;
  bool busy_ = false;
  bool stopping_ = false;
  uint64_t sequence_ = 0;
  absl::Status broken_;
  std::thread worker_;                // started by the first call of Start
  std::shared_ptr<Formation> split_;  // formation of the latest Split

  // number of splits so far; used only by the thread that owns the transport
  int splits_ = 0;
};

absl::StatusOr<std::unique_ptr<ProcessGroup>> ProcessGroup::Create(
    GroupPlace place, TransportFactory factory, ProcessGroupOptions options) {
  const absl::Status wrong = CheckPlace(place, options.global_ranks);
  if (!wrong.ok()) return NamedAfter(place, wrong);
  if (options.global_ranks.empty()) {
    options.global_ranks.resize(place.size);
    std::iota(options.global_ranks.begin(), options.global_ranks.end(), 0);
  }
  place.global_ranks = options.global_ranks;
  if (place.store == nullptr) place.store = std::make_shared<InProcessStore>();
  auto transport =
      FormTransport(factory, place, MonotonicNow() + options.timeout);
  if (!transport.ok()) {
    return NamedAfter(place,
                      InWorldRanks(transport.status(), options.global_ranks));
  }
  return std::unique_ptr<ProcessGroup>(new ProcessGroup(
      std::make_unique<Body>(std::move(place), std::move(factory),
                             std::move(options), *std::move(transport))));
}

ProcessGroup::ProcessGroup(std::unique_ptr<Body> body)
    : body_(std::move(body)) {}
ProcessGroup::~ProcessGroup() = default;

int ProcessGroup::rank() const { return body_->place().rank; }
int ProcessGroup::size() const { return body_->place().size; }
const std::string& ProcessGroup::name() const { return body_->place().name; }
const char* ProcessGroup::transport_name() const {
  return body_->transport().name();
}
const std::vector<int>& ProcessGroup::global_ranks() const {
  return body_->options().global_ranks;
}

absl::Status ProcessGroup::Run(const Operation& operation,
                               CallOptions options) {
  return body_->Run(operation, options);
}

std::shared_ptr<Work> ProcessGroup::Start(Operation operation,
                                          CallOptions options) {
  return body_->Start(std::move(operation), options);
}

absl::StatusOr<std::unique_ptr<TransportMemory>> ProcessGroup::Allocate(
    int64_t bytes, CallOptions options) {
  return body_->Allocate(bytes, options);
}

absl::StatusOr<std::unique_ptr<ProcessGroup>> ProcessGroup::Split(
    int color, int key, const std::string& label, CallOptions options) {
  return body_->Split(color, key, label, options);
}

void ProcessGroup::Abort(const std::string& reason) { body_->Abort(reason); }

absl::Status ProcessGroup::status() const { return body_->status(); }

}  // namespace muster
