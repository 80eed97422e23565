#include "trainer_sdk/ddp/reducer.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/time.h"
#include "trainer_sdk/ddp/broadcast_parameters.h"
#include "trainer_sdk/ddp/gradient_bucket.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

std::vector<std::string> NamesOf(const std::vector<Tensor>& parameters) {
  std::vector<std::string> names;
  names.reserve(parameters.size());
  for (const Tensor& parameter : parameters) {
    names.push_back(parameter.name);
  }
  return names;
}

constexpr auto kCompute = Device::Stream::kCompute;
constexpr auto kCommunication = Device::Stream::kCommunication;

bool IsPermutation(const std::vector<int32_t>& order) {
  std::vector<bool> seen(order.size(), false);
  for (const int32_t index : order) {
    if (index < 0 || static_cast<size_t>(index) >= order.size() ||
        seen[static_cast<size_t>(index)]) {
      return false;
    }
    seen[static_cast<size_t>(index)] = true;
  }
  return true;
}

absl::Status CheckArguments(const std::vector<Tensor>& parameters,
                            const DdpOptions& options, const Device& device) {
  for (const Tensor& parameter : parameters) {
    // With GradientPlace::kBucket the tensors have no gradient memory of their
    // own, so only their shape is checked.
    if (options.place == GradientPlace::kBucket && parameter.count() >= 0) {
      continue;
    }
    absl::Status wrong = CheckData(parameter, parameter.gradient, "gradient");
    if (!wrong.ok()) return wrong;
  }
  if (options.place == GradientPlace::kInPlace &&
      options.order != BucketOrder::kReverse) {
    return absl::InvalidArgumentError(
        "gradients that are reduced in place have buckets that stay as they "
        "are: GradientPlace::kInPlace needs BucketOrder::kReverse");
  }
  if (!device.is_host() && !options.hook->takes_device_memory()) {
    return absl::InvalidArgumentError(
        "the gradients are on a device, and the communication hook takes only "
        "host memory (CommHook::takes_device_memory)");
  }
  if (!options.narrow_to) return absl::OkStatus();
  if (*options.narrow_to != DType::kBFloat16 &&
      *options.narrow_to != DType::kFloat16) {
    return absl::InvalidArgumentError(absl::StrCat(
        "gradients cannot be narrowed to ", Name(*options.narrow_to)));
  }
  if (options.place == GradientPlace::kBucket ||
      options.place == GradientPlace::kInPlace) {
    return absl::InvalidArgumentError(
        "gradients that lie in the buckets cannot be narrowed on their way");
  }
  return absl::OkStatus();
}

// The parameters, with the type that each gradient has in its bucket:
// DdpOptions::narrow_to instead of float32, if narrow_to is set.
std::vector<Tensor> AsInBuckets(std::vector<Tensor> parameters,
                                std::optional<DType> narrow_to) {
  for (Tensor& parameter : parameters) {
    TensorData& gradient = parameter.gradient;
    gradient.data = nullptr;
    if (narrow_to && gradient.dtype == DType::kFloat32) {
      gradient.dtype = *narrow_to;
    }
  }
  return parameters;
}

// Whether the reducer has nothing to do, because the group has one rank and no
// option changes the gradients.
bool IsAlone(const ProcessGroup& group, const DdpOptions& options) {
  return group.size() == 1 && options.hook == nullptr && !options.narrow_to &&
         options.place != GradientPlace::kOwnToBucket;
}

// Runs jobs one after another on a thread, concurrently with the backward pass.
// If Start was not called, Add runs its job immediately on the caller's thread.
// After the first job that fails, all further jobs are dropped. Thread-safe.
class ReductionThread {
 public:
  ReductionThread() = default;
  // Waits for the running job to end; drops pending jobs.
  ~ReductionThread();
  ReductionThread(const ReductionThread&) = delete;
  ReductionThread& operator=(const ReductionThread&) = delete;

  // Starts the thread. Call it before any other method, at most once.
  // ResourceExhausted: the system cannot start a thread.
  absl::Status Start();

  void Add(std::function<absl::Status()> job);

  // Blocks until all added jobs are done or dropped, and returns the first
  // failure.
  absl::Status Drain();

  // Total running time of the functions passed to Add (the reductions).
  Duration busy() const;

 private:
  void Serve();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<absl::Status()>> jobs_;
  absl::Status failure_;
  Duration busy_{};
  enum class State { kIdle, kWorking, kEnding } state_ = State::kIdle;
  std::thread thread_;
};

ReductionThread::~ReductionThread() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    state_ = State::kEnding;
    jobs_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::Status ReductionThread::Start() {
  try {
    thread_ = std::thread([this] { Serve(); });
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no thread for reducing gradients: ", error.what()));
  }
  return absl::OkStatus();
}

void ReductionThread::Add(std::function<absl::Status()> job) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.ok()) return;
    if (!thread_.joinable()) {
      failure_ = job();
      return;
    }
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

absl::Status ReductionThread::Drain() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock,
                [this] { return jobs_.empty() && state_ != State::kWorking; });
  return failure_;
}

Duration ReductionThread::busy() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return busy_;
}

void ReductionThread::Serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(
        lock, [this] { return !jobs_.empty() || state_ == State::kEnding; });
    if (state_ == State::kEnding) return;
    const std::function<absl::Status()> job = std::move(jobs_.front());
    jobs_.pop_front();
    state_ = State::kWorking;
    lock.unlock();
    const Instant begin = MonotonicNow();
    const absl::Status status = job();
    const Duration took = MonotonicNow() - begin;
    lock.lock();
    busy_ += took;
    if (state_ == State::kWorking) state_ = State::kIdle;
    if (!status.ok() && failure_.ok()) {
      failure_ = status;
      jobs_.clear();
    }
    changed_.notify_all();
  }
}

}  // namespace

class Reducer::Body {
 public:
  Body(ProcessGroup& group, std::vector<Tensor> parameters, DdpOptions options)
      : group_(group),
        device_(options.device == nullptr ? HostDevice() : *options.device),
        alone_(IsAlone(group, options)),
        parameters_(std::move(parameters)),
        as_in_buckets_(AsInBuckets(parameters_, options.narrow_to)),
        options_(std::move(options)),
        tracker_(NamesOf(parameters_), options_.use),
        used_somewhere_(parameters_.size(), 1) {
    if (options_.hook == nullptr) {
      options_.hook = std::make_shared<AllReduceHook>();
    }
  }

  ~Body() {
    // The device may still work on the buckets. Before they are freed, wait
    // until all work is done: kCompute waits for the other stream, and Wait
    // blocks until kCompute is done.
    device_.WaitForOther(kCompute);
    device_.Wait();
  }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  absl::Status Prepare() {
    if (absl::Status wrong = CheckArguments(parameters_, options_, device_);
        !wrong.ok()) {
      return wrong;
    }
    if (absl::Status differ = CheckSameParameters(
            device_, group_, as_in_buckets_, &Tensor::gradient);
        !differ.ok()) {
      return differ;
    }
    options_.hook->OnParameters(as_in_buckets_, group_);
    if (absl::Status status = PutIntoBuckets(ReverseOrder(as_in_buckets_));
        !status.ok()) {
      return status;
    }
    // The reducer needs no thread if it has nothing to do (`alone_`), or if a
    // device performs the reductions asynchronously.
    return alone_ || !device_.is_host() ? device_.status() : thread_.Start();
  }

  absl::Status Begin(GradientSync sync) {
    if (!broken_.ok()) return broken_;
    sync_ = sync;
    share_use_ = tracker_.must_share_use();
    return Launched(
        [&](std::vector<int>* full) { return tracker_.Begin(sync, full); });
  }

  absl::Status MarkReady(int parameter) {
    return Launched([&](std::vector<int>* full) {
      return tracker_.MarkReady(parameter, full);
    });
  }

  absl::Status MarkUnused(int parameter) {
    return Launched([&](std::vector<int>* full) {
      return tracker_.MarkUnused(parameter, full);
    });
  }

  absl::Status Finish() {
    absl::Status status =
        Launched([&](std::vector<int>* full) { return tracker_.Finish(full); });
    if (!status.ok() || sync_ == GradientSync::kAccumulate) return status;
    ++steps_;
    if (alone_) return absl::OkStatus();
    if (share_use_) {
      thread_.Add([this, asked = NowForObserver()] {
        const int64_t bytes =
            static_cast<int64_t>(used_somewhere_.size()) * sizeof(int32_t);
        return Observed({.bucket = -1, .bytes = bytes, .asked = asked},
                        [this] { return ShareUse(); });
      });
    }
    broken_ = device_.is_host() ? Drain() : WaitOnDevice();
    if (!broken_.ok()) return broken_;
    if (steps_ == 1 && options_.use != ParameterUse::kMayVary &&
        options_.order == BucketOrder::kObserved) {
      broken_ = FollowObservedOrder();
    }
    return broken_;
  }

  absl::Status Confirm() {
    if (broken_.ok() && !alone_) broken_ = ConfirmIntact(device_, group_);
    return broken_;
  }

  void* gradient(int parameter) const { return gradients_[parameter]; }
  TensorData average(int parameter) const {
    const int64_t count = parameters_[parameter].count();
    const DType in_bucket = as_in_buckets_[parameter].gradient.dtype;
    if (options_.hook->scatters() && group_.size() > 1) {
      return {nullptr, count, in_bucket};
    }
    if (options_.place == GradientPlace::kOwn) {
      return parameters_[parameter].gradient;
    }
    return {places_[parameter], count, in_bucket};
  }
  const DdpOptions& options() const { return options_; }
  Device& device() const { return device_; }
  int ranks() const { return group_.size(); }
  const std::vector<GradientBucket>& buckets() const { return buckets_; }
  ReducerTimes times() const { return {thread_.busy(), exposed_, steps_}; }

 private:
  // Calls `step`, which appends to its argument the indices of the buckets that
  // are to be reduced now. Then starts to reduce these buckets: on the
  // reducer's thread or, for gradients on a device, by enqueuing the work on
  // the device.
  template <typename Step>
  absl::Status Launched(Step step) {
    if (!broken_.ok()) return broken_;
    full_.clear();
    absl::Status status = step(&full_);
    if (alone_) return status;
    for (const int index : full_) {
      GradientBucket& bucket = buckets_[index];
      // For each part of this bucket: whether its parameter is used. Copied
      // from the tracker, because the caller's thread changes the tracker while
      // the bucket is reduced.
      std::vector<bool> used;
      for (const GradientBucket::Part& part : bucket.parts) {
        used.push_back(tracker_.used(part.parameter));
      }
      thread_.Add(
          [this, &bucket, used = std::move(used), asked = NowForObserver()] {
            return Observed({.bucket = bucket.index,
                             .bytes = bucket.count * SizeOf(bucket.dtype),
                             .asked = asked},
                            [&] { return ReduceBucket(bucket, used); });
          });
    }
    return status;
  }

  // Blocks until all reductions of gradients in host memory are done.
  absl::Status Drain() {
    const Instant begin = MonotonicNow();
    absl::Status status = thread_.Drain();
    const Instant end = MonotonicNow();
    exposed_ += end - begin;
    if (options_.observer != nullptr) options_.observer->OnWaited(begin, end);
    return status;
  }

  // Makes later work on the stream kCompute wait for all reductions on the
  // device. Does not block.
  absl::Status WaitOnDevice() {
    Observe(DevicePoint::kWaits);
    device_.WaitForOther(kCompute);
    Observe(DevicePoint::kWaited);
    absl::Status status = thread_.Drain();
    return status.ok() ? device_.status() : status;
  }

  void Observe(DevicePoint point, const BucketReduction& reduction = {}) {
    if (options_.observer == nullptr) return;
    options_.observer->OnDevicePoint(point, reduction.bucket, reduction.bytes);
  }

  Instant NowForObserver() const {
    return options_.observer == nullptr ? Instant() : MonotonicNow();
  }

  // Runs `reduce`: the reduction of one bucket, or the all-reduce by which the
  // ranks learn which parameters any rank has used. Reports to the observer
  // when `reduce` was requested, began and ended.
  template <typename Reduction>
  absl::Status Observed(BucketReduction told, Reduction reduce) {
    if (!device_.is_host()) {
      Observe(DevicePoint::kAsked, told);
      device_.WaitForOther(kCommunication);
      Observe(DevicePoint::kBegan, told);
      absl::Status status = reduce();
      Observe(DevicePoint::kEnded, told);
      return status;
    }
    if (options_.observer == nullptr) return reduce();
    told.began = MonotonicNow();
    absl::Status status = reduce();
    told.ended = MonotonicNow();
    options_.observer->OnReduced(told);
    return status;
  }

  absl::Status ReduceBucket(GradientBucket& bucket,
                            const std::vector<bool>& used) {
    for (size_t i = 0; i < bucket.parts.size(); ++i) {
      const GradientBucket::Part& part = bucket.parts[i];
      if (!used[i]) {
        device_.Zero(kCommunication, bucket.at(part),
                     part.count * SizeOf(bucket.dtype));
      } else if (has_copies()) {
        device_.Convert(kCommunication, parameters_[part.parameter].gradient,
                        bucket.view(part), bucket.dtype);
      }
    }
    absl::Status status = options_.hook->Reduce(bucket, group_);
    // Copy the averages back to the tensors. If share_use_ is set, ShareUse
    // copies them later, when this rank knows which parameters were used on at
    // least one rank.
    if (status.ok() && !share_use_) CopyBack(bucket);
    return status;
  }

  void CopyBack(const GradientBucket& bucket) {
    if (options_.place != GradientPlace::kOwn) return;
    for (const GradientBucket::Part& part : bucket.parts) {
      if (used_somewhere_[part.parameter] == 0) continue;
      const TensorData& gradient = parameters_[part.parameter].gradient;
      device_.Convert(kCommunication, bucket.view(part), gradient,
                      gradient.dtype);
    }
  }

  // Determines which parameters were used on at least one rank, and copies the
  // averaged gradients of these parameters from the buckets back to the
  // gradients' own memory. Runs after the last bucket of a pass.
  absl::Status ShareUse() {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      used_somewhere_[i] = tracker_.used(static_cast<int>(i)) ? 1 : 0;
    }
    absl::Status status =
        RunFromHost(device_, group_,
                    AllReduce(used_somewhere_.data(), used_somewhere_.data(),
                              static_cast<int64_t>(used_somewhere_.size()),
                              DType::kInt32, ReduceOp::kMax));
    if (!status.ok()) return status;
    for (const GradientBucket& bucket : buckets_) CopyBack(bucket);
    return absl::OkStatus();
  }

  absl::Status FollowObservedOrder() {
    const std::vector<int> mine = tracker_.ObservedOrder();
    std::vector<int32_t> order(mine.begin(), mine.end());
    absl::Status status = RunFromHost(
        device_, group_,
        Broadcast(order.data(), order.data(),
                  static_cast<int64_t>(order.size()), DType::kInt32, 0));
    if (!status.ok()) return status;
    if (!IsPermutation(order)) {
      return absl::InternalError(
          "rank 0's order of gradients has not each parameter once");
    }
    return PutIntoBuckets({order.begin(), order.end()});
  }

  // Whether the reducer copies gradients from the tensors' own memory into the
  // buckets.
  bool has_copies() const {
    return options_.place == GradientPlace::kOwn ||
           options_.place == GradientPlace::kOwnToBucket;
  }

  // Assigns the parameters to new buckets in `order`. Gradients that are in the
  // old buckets are moved to the new ones.
  absl::Status PutIntoBuckets(const std::vector<int>& order) {
    const std::vector<std::vector<int>> assignment =
        AssignBuckets(as_in_buckets_, order, options_.limits);
    // The old buckets must live until the gradients in them have been moved.
    std::vector<GradientBucket> old = std::move(buckets_);
    absl::StatusOr<std::vector<GradientBucket>> buckets =
        options_.place == GradientPlace::kInPlace
            ? BucketsInPlace(device_, parameters_, assignment)
            : MakeBuckets(device_, group_, as_in_buckets_, assignment);
    if (!buckets.ok()) return buckets.status();
    buckets_ = *std::move(buckets);
    const std::vector<void*> old_places = std::move(places_);
    places_ = PlacesIn(buckets_, parameters_.size());
    if (!old.empty() && options_.place != GradientPlace::kOwn) {
      for (size_t i = 0; i < places_.size(); ++i) {
        device_.Copy(kCompute, places_[i], old_places[i],
                     as_in_buckets_[i].count() *
                         SizeOf(as_in_buckets_[i].gradient.dtype));
      }
    }
    if (!old.empty()) device_.Wait();
    gradients_ = places_;
    if (has_copies()) {
      for (size_t i = 0; i < gradients_.size(); ++i) {
        gradients_[i] = parameters_[i].gradient.data;
      }
    }
    tracker_.SetBuckets(assignment);
    if (!old.empty()) options_.hook->OnNewBuckets();
    return absl::OkStatus();
  }

  ProcessGroup& group_;
  Device& device_;
  // The result of IsAlone: whether the reducer has nothing to do.
  const bool alone_;
  const std::vector<Tensor> parameters_;
  // The parameters, with the type that each gradient has in its bucket.
  const std::vector<Tensor> as_in_buckets_;
  DdpOptions options_;
  BackwardTracker tracker_;
  GradientSync sync_ = GradientSync::kReduce;
  // Whether the ranks tell each other, at the end of this pass, which
  // parameters they have used (ShareUse); set when the pass begins.
  bool share_use_ = false;
  std::vector<GradientBucket> buckets_;
  // Indices of the buckets that are to be reduced now; filled by the last call
  // of a method of `tracker_`.
  std::vector<int> full_;
  // Both vectors are indexed by parameter. places_: the address of the
  // parameter's gradient in its bucket. gradients_: the address at which the
  // backward pass writes the parameter's gradient.
  std::vector<void*> places_;
  std::vector<void*> gradients_;
  // Indexed by parameter: 1 if any rank used the parameter, else 0. The type is
  // int32, because an all_reduce combines the flags of the ranks.
  std::vector<int32_t> used_somewhere_;
  absl::Status broken_;
  Duration exposed_{};
  int64_t steps_ = 0;
  // Declared last, so that the thread is destroyed first: its jobs use all
  // other members.
  ReductionThread thread_;
};

Reducer::Reducer(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Reducer::~Reducer() = default;

absl::StatusOr<std::unique_ptr<Reducer>> Reducer::Create(
    ProcessGroup& group, std::vector<Tensor> parameters, DdpOptions options) {
  auto body =
      std::make_unique<Body>(group, std::move(parameters), std::move(options));
  if (absl::Status status = body->Prepare(); !status.ok()) return status;
  return std::unique_ptr<Reducer>(new Reducer(std::move(body)));
}

absl::Status Reducer::Begin(GradientSync sync) { return body_->Begin(sync); }
absl::Status Reducer::MarkReady(int parameter) {
  return body_->MarkReady(parameter);
}
absl::Status Reducer::MarkUnused(int parameter) {
  return body_->MarkUnused(parameter);
}
absl::Status Reducer::Finish() { return body_->Finish(); }
absl::Status Reducer::Confirm() { return body_->Confirm(); }
void* Reducer::gradient(int parameter) const {
  return body_->gradient(parameter);
}
TensorData Reducer::average(int parameter) const {
  return body_->average(parameter);
}
const DdpOptions& Reducer::options() const { return body_->options(); }
Device& Reducer::device() const { return body_->device(); }
int Reducer::ranks() const { return body_->ranks(); }
const std::vector<GradientBucket>& Reducer::buckets() const {
  return body_->buckets();
}
ReducerTimes Reducer::times() const { return body_->times(); }

}  // namespace muster
