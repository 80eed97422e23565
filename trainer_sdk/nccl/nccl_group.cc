#include "trainer_sdk/nccl/nccl_group.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "nccl/nccl_library.h"
#include "trainer_sdk/nccl/attendance.h"
#include "trainer_sdk/nccl/nccl_operation.h"
#include "trainer_sdk/nccl/unique_id.h"
#include "trainer_sdk/process_group/formation.h"
#include "trainer_sdk/process_group/last_operations.h"
#include "trainer_sdk/store/call_within.h"
#include "trainer_sdk/store/prefix_store.h"

namespace muster {
namespace {

using std::chrono::milliseconds;

// The interval at which the watching thread queries the device while operations
// are pending.
constexpr Duration kLookEvery = milliseconds(10);
// The interval at which the watching thread queries NCCL for errors while no
// operations are pending.
constexpr Duration kLookWhenIdle = std::chrono::seconds(1);
// The time that a rank waits for its peers before it begins to poll the group's
// alarm, once per second, to learn whether a peer has failed.
constexpr Duration kStalledAfter = std::chrono::seconds(1);
// The longest time that a rank spends on the store in order to add details to
// an error message. The wait for the peers (NcclOptions::explanation_timeout)
// is not included.
constexpr Duration kStoreTimeout = std::chrono::seconds(1);
// The interval at which the host polls for the end of a barrier.
constexpr Duration kBarrierPoll = std::chrono::microseconds(20);

absl::StatusOr<int> ChooseDevice(const CudaDriver& cuda, int asked) {
  if (asked >= 0) return asked;
  const int current = cuda.CurrentDevice();
  if (current >= 0) return current;
  if (cuda.device_count() == 1) return 0;
  return absl::InvalidArgumentError(absl::StrCat(
      "this process sees ", cuda.device_count(),
      " GPUs and has chosen none; give NcclOptions::device, or call "
      "cudaSetDevice first"));
}

absl::Status CheckEnvironment() {
  const char* const blocking = std::getenv("NCCL_COMM_BLOCKING");
  if (blocking == nullptr || std::string(blocking) != "1") {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      "NCCL_COMM_BLOCKING=1 makes NCCL wait for peers without a deadline; "
      "unset it");
}

}  // namespace

class NcclGroup::Launch {
 public:
  explicit Launch(NcclGroup& group) : group_(group) {
    std::lock_guard<std::mutex> lock(group_.mutex_);
    if (group_.launches_++ == 0) group_.launching_since_ = MonotonicNow();
  }
  ~Launch() {
    std::lock_guard<std::mutex> lock(group_.mutex_);
    --group_.launches_;
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

 private:
  NcclGroup& group_;
};

std::optional<Instant> NcclGroup::WaitingSince() {
  const std::optional<Instant> on_device = watch_.OldestSince();
  std::lock_guard<std::mutex> lock(mutex_);
  if (launches_ == 0) return on_device;
  return std::min(launching_since_, on_device.value_or(launching_since_));
}

NcclGroup::NcclGroup(GroupPlace place, NcclOptions options,
                     std::shared_ptr<const nccl::NcclLibrary> nccl,
                     std::shared_ptr<const CudaDriver> cuda,
                     CudaContext context)
    : place_(std::move(place)),
      options_(std::move(options)),
      nccl_(std::move(nccl)),
      cuda_(std::move(cuda)),
      context_(context),
      communicator_(nccl_),
      watch_(cuda_),
      alarm_(place_, [this](const absl::Status& cause) { Break(cause); }) {}

NcclGroup::~NcclGroup() {
  const ScopedCudaContext on_device(*cuda_, context_);
  communicator_.Abort();
  cuda_->Free(barrier_cell_);
}

absl::StatusOr<std::shared_ptr<NcclGroup>> NcclGroup::Open(
    GroupPlace place, NcclOptions options) {
  if (absl::Status status = CheckEnvironment(); !status.ok()) return status;
  auto nccl = nccl::NcclLibrary::Load(options.nccl_library);
  if (!nccl.ok()) return nccl.status();
  auto cuda = CudaDriver::Load(options.cuda_library);
  if (!cuda.ok()) return cuda.status();
  const absl::StatusOr<int> device = ChooseDevice(**cuda, options.device);
  if (!device.ok()) return device.status();
  // Store the chosen device in the options, so that groups split from this one
  // use the same device.
  options.device = *device;
  const absl::StatusOr<CudaContext> context = (*cuda)->PrimaryContext(*device);
  if (!context.ok()) return context.status();
  std::shared_ptr<NcclGroup> group(
      new NcclGroup(std::move(place), std::move(options), *std::move(nccl),
                    *std::move(cuda), *context));
  if (!group->alarm_.status().ok()) return group->alarm_.status();
  return group;
}

std::string NcclGroup::What(const char* step) const {
  return absl::StrCat("rank ", place_.rank, " of ", place_.size, " of group \"",
                      place_.name, "\", ", step);
}

absl::Status NcclGroup::TakeBarrierCell() {
  absl::StatusOr<void*> cell = cuda_->Allocate(sizeof(int32_t));
  if (!cell.ok()) return cell.status();
  barrier_cell_ = *cell;
  return absl::OkStatus();
}

absl::Status NcclGroup::Join(Instant deadline) {
  const ScopedCudaContext on_device(*cuda_, context_);
  if (!on_device.status().ok()) return on_device.status();
  if (absl::Status cell = TakeBarrierCell(); !cell.ok()) return cell;
  const Meeting joining{.name = "joining"};
  if (absl::Status s = RecordArrival(joining, place_); !s.ok()) return s;
  absl::StatusOr<nccl::NcclUniqueId> id =
      options_.unique_id.empty() ? AgreeOnNcclId(*nccl_, place_, deadline)
                                 : nccl::NcclUniqueIdOf(options_.unique_id);
  absl::Status joined = id.status();
  if (joined.ok()) {
    // End communicator_.Join as soon as the creation of the group fails on any
    // rank. `alarm_` alone would need up to a second to notice, because it
    // polls the store.
    const FormationReaction given_up(
        place_.formation, [this](const absl::Status& cause) { Break(cause); });
    alarm_.SetPolling(GroupAlarm::Polling::kOn);
    joined = communicator_.Join(*id, place_.rank, place_.size, What("joining"),
                                deadline);
    alarm_.SetPolling(GroupAlarm::Polling::kOff);
  }
  return WithAbsent(joined, joining, place_, kStoreTimeout);
}

absl::Status NcclGroup::JoinBySplit(NcclGroup& parent, int color, int key,
                                    Instant deadline) {
  const ScopedCudaContext on_device(*cuda_, context_);
  absl::Status split = on_device.status();
  if (split.ok()) split = TakeBarrierCell();
  if (split.ok()) {
    alarm_.SetPolling(GroupAlarm::Polling::kOn);
    split = parent.Split(color, key, &communicator_, What("splitting off"),
                         place_.formation, deadline);
    alarm_.SetPolling(GroupAlarm::Polling::kOff);
  }
  // Break the parent group, because its other ranks may wait for this rank in
  // the split. Otherwise they would wait until their deadlines.
  if (!split.ok()) parent.Break(split);
  return split;
}

absl::Status NcclGroup::SplitWithoutNewGroup(
    const std::shared_ptr<Formation>& formation, Instant deadline) {
  const ScopedCudaContext on_device(*cuda_, context_);
  absl::Status split = on_device.status();
  NcclCommunicator none(nccl_);
  if (split.ok()) {
    split = Split(nccl::kNcclSplitNoColor, 0, &none,
                  What("standing aside of a split"), formation, deadline);
  }
  if (!split.ok()) Break(split);
  return split;
}

absl::Status NcclGroup::Split(int color, int key, NcclCommunicator* part,
                              const std::string& what,
                              const std::shared_ptr<Formation>& formation,
                              Instant deadline) {
  Meeting meeting{.name = "split"};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    meeting.turn = ++splits_;
  }
  // This rank's place in the parent group, because all ranks of the parent wait
  // for each other in a split. Failures are reported through `formation`, so
  // that a failure on one rank ends the creation of the new groups on all
  // ranks.
  GroupPlace whole = place_;
  whole.formation = formation;
  absl::Status split;
  {
    const Launch launch(*this);
    const FormationReaction given_up(
        formation, [this](const absl::Status& cause) { Break(cause); });
    split = RecordArrival(meeting, whole);
    if (split.ok()) {
      split = communicator_.Split(color, key, part, what, deadline);
    }
  }
  // Wake the watching thread: if the group has broken during the split, this
  // thread must abort the communicator.
  Wake();
  return WithAbsent(split, meeting, whole, kStoreTimeout);
}

absl::Status NcclGroup::Execute(const Operation& operation,
                                const OperationContext& context) {
  if (absl::Status broken = status(); !broken.ok()) return broken;
  if (!MovesAnything(operation, place_.rank, place_.size)) {
    return absl::OkStatus();
  }
  const ScopedCudaContext on_device(*cuda_, context_);
  if (!on_device.status().ok()) return on_device.status();
  const StreamWatch::Watched watched{SignatureOf(operation, context.sequence),
                                     MonotonicNow(), context.deadline};
  NcclCallSite site{.nccl = nccl_.get(),
                    .stream = static_cast<nccl::CudaStream>(operation.stream),
                    .rank = place_.rank,
                    .size = place_.size,
                    .barrier_cell = barrier_cell_};
  absl::Status launched;
  {
    const Launch launch(*this);
    launched = communicator_.Do(
        [&](nccl::NcclComm comm) {
          site.comm = comm;
          return CallNccl(site, operation);
        },
        Describe(watched.signature), context.deadline);
  }
  if (!launched.ok()) {
    Wake();
    return launched;
  }
  const absl::StatusOr<uint64_t> number = watch_.Add(site.stream, watched);
  if (!number.ok()) {
    Break(absl::UnavailableError(absl::StrCat(Describe(watched.signature), ": ",
                                              number.status().message())));
    return status();
  }
  Wake();
  if (operation.kind != OperationKind::kBarrier) return absl::OkStatus();
  return WaitFor(*number);
}

absl::Status NcclGroup::WaitFor(uint64_t number) {
  while (!watch_.Done(number)) {
    if (!status().ok()) return ExplainedCause();
    // If the operation is late or the device failed, wake the watching thread,
    // which detects the failure itself and makes the error message.
    if (!watch_.Look(MonotonicNow()).ok()) Wake();
    std::this_thread::sleep_for(kBarrierPoll);
  }
  // An abort makes all operations look complete. Therefore the group's status
  // decides whether this operation has succeeded.
  return status().ok() ? absl::OkStatus() : ExplainedCause();
}

absl::StatusOr<NcclGroup::Memory> NcclGroup::Allocate(int64_t bytes,
                                                      Instant deadline) {
  const ScopedCudaContext on_device(*cuda_, context_);
  if (!on_device.status().ok()) return on_device.status();
  if (absl::Status broken = status(); !broken.ok()) return broken;
  Memory memory;
  if (!nccl_->can_allocate() || bytes == 0) {
    const absl::StatusOr<void*> plain = cuda_->Allocate(bytes);
    if (!plain.ok()) return plain.status();
    memory.data = *plain;
    return memory;
  }
  const nccl::NcclResult result = nccl_->MemAlloc(&memory.data, bytes);
  if (result != nccl::kNcclSuccess) {
    return absl::ResourceExhaustedError(
        absl::StrCat(What("allocating "), bytes,
                     " bytes: NCCL says: ", nccl_->Explain(result, nullptr)));
  }
  memory.is_nccls = true;
  if (!nccl_->can_register()) return memory;
  const absl::Status registered = communicator_.Do(
      [&](nccl::NcclComm comm) {
        return nccl_->CommRegister(comm, memory.data, bytes,
                                   &memory.registration);
      },
      What("registering memory"), deadline);
  if (registered.ok()) return memory;
  Wake();
  nccl_->MemFree(memory.data);
  return registered;
}

void NcclGroup::Release(const Memory& memory) {
  const ScopedCudaContext on_device(*cuda_, context_);
  if (!memory.is_nccls) {
    cuda_->Free(memory.data);
    return;
  }
  if (memory.registration != nullptr && status().ok()) {
    // Deregister the memory only while the communicator is healthy. A broken
    // communicator is freed as a whole, with all its registrations.
    communicator_
        .Do(
            [&](nccl::NcclComm comm) {
              return nccl_->CommDeregister(comm, memory.registration);
            },
            What("releasing memory"), MonotonicNow() + options_.close_timeout)
        .IgnoreError();
  }
  nccl_->MemFree(memory.data);
}

void NcclGroup::GiveUp(const absl::Status& cause) {
  Break(cause);
  alarm_.Raise(status());
}

void NcclGroup::Break(const absl::Status& cause) {
  if (communicator_.Break(cause)) Wake();
}

absl::Status NcclGroup::Explained(
    const absl::Status& cause,
    const std::optional<OperationSignature>& current) const {
  if (!absl::IsDeadlineExceeded(cause) || !current.has_value() ||
      place_.size == 1) {
    return cause;
  }
  // Publish the oldest operation that NCCL has not finished under store keys
  // with the prefix nccl_late. The prefix keeps them apart from the keys under
  // which ProcessGroup publishes the last call of this rank.
  GroupPlace place = place_;
  place.store = std::make_shared<PrefixStore>("nccl_late", place_.store);
  const auto compare = [place, call = *current,
                        timeout = options_.explanation_timeout] {
    if (!PublishLastOperation(place, call).ok()) return std::string();
    return CompareLastOperations(
        ReadLastOperations(place, MonotonicNow() + timeout), "");
  };
  const std::string accounts =
      CallWithin<std::string>(options_.explanation_timeout + kStoreTimeout,
                              compare)
          .value_or("");
  if (accounts.empty()) return cause;
  return absl::DeadlineExceededError(
      absl::StrCat(cause.message(), "; ", accounts));
}

absl::Status NcclGroup::ExplainedCause() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_until(lock,
                      ToSteady(MonotonicNow() + options_.explanation_timeout +
                               2 * kStoreTimeout),
                      [this] { return explained_ || ended_; });
  return status();
}

void NcclGroup::Wake() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (awake_) return;
    awake_ = true;
  }
  changed_.notify_all();
}

NcclGroup::Turn NcclGroup::LookAround() {
  const Instant now = MonotonicNow();
  if (absl::Status late = watch_.Look(now); !late.ok()) {
    communicator_.Break(late);
  }
  if (absl::Status error = communicator_.AsyncError(); !error.ok()) {
    communicator_.Break(absl::UnavailableError(absl::StrCat(
        What("between operations"), ": NCCL says: ", error.message())));
  }
  const std::optional<Instant> since = WaitingSince();
  alarm_.SetPolling(since.has_value() && now - *since > kStalledAfter
                        ? GroupAlarm::Polling::kOn
                        : GroupAlarm::Polling::kOff);
  return status().ok() ? Turn::kGoOn : Turn::kBroken;
}

void NcclGroup::Watch() {
  const ScopedCudaContext on_device(*cuda_, context_);
  std::unique_lock<std::mutex> lock(mutex_);
  while (!closing_) {
    awake_ = false;
    lock.unlock();
    const Turn turn = LookAround();
    if (turn == Turn::kBroken) {
      const absl::Status cause = status();
      alarm_.Raise(cause);
      // Read the current operation before the abort: after an abort, all
      // operations look complete.
      const std::optional<OperationSignature> current = watch_.Current();
      communicator_.Abort();
      // Call Explained only after the abort: Explained may block for seconds if
      // the store does not answer, which must not delay the abort.
      const absl::Status explained = Explained(cause, current);
      communicator_.Explain(explained);
      {
        std::lock_guard<std::mutex> explaining(mutex_);
        explained_ = true;
      }
      changed_.notify_all();
      if (options_.on_broken) options_.on_broken(explained);
    }
    const bool busy = WaitingSince().has_value();
    lock.lock();
    if (turn == Turn::kBroken) break;
    changed_.wait_until(
        lock, ToSteady(MonotonicNow() + (busy ? kLookEvery : kLookWhenIdle)),
        [&] { return closing_ || (awake_ && !busy) || !status().ok(); });
  }
  lock.unlock();
  // If the group broke just before Close was called, this thread has left its
  // loop without notifying the peers. So notify them here.
  if (const absl::Status cause = status(); !cause.ok()) alarm_.Raise(cause);
  communicator_.Close(MonotonicNow() + options_.close_timeout / 2);
  lock.lock();
  ended_ = true;
  changed_.notify_all();
}

NcclGroup::Ended NcclGroup::Close() {
  std::unique_lock<std::mutex> lock(mutex_);
  closing_ = true;
  changed_.notify_all();
  return changed_.wait_until(lock,
                             ToSteady(MonotonicNow() + options_.close_timeout),
                             [this] { return ended_; })
             ? Ended::kYes
             : Ended::kNotInTime;
}

}  // namespace muster
