#include "trainer_sdk/device/testing/stream_device.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <utility>

#include "base/check.h"

namespace muster {
namespace {

// A bit that is 0 in every host address. A host address with this bit set to 1
// is the device's address of the same memory.
constexpr uintptr_t kThere = uintptr_t{1} << 62;
constexpr auto kDeadline = std::chrono::seconds(60);

template <typename T>
T* Host(T* device) {
  return static_cast<T*>(StreamDevice::Here(device));
}

TensorData Host(TensorData view) {
  view.data = StreamDevice::Here(view.data);
  return view;
}

class DeviceMemory final : public TransportMemory {
 public:
  explicit DeviceMemory(std::unique_ptr<TransportMemory> inner, int64_t bytes)
      : inner_(std::move(inner)), own_(static_cast<size_t>(bytes)) {}
  void* data() const override {
    return StreamDevice::There(inner_ == nullptr ? own_.data()
                                                 : inner_->data());
  }
  int64_t bytes() const override { return static_cast<int64_t>(own_.size()); }

 private:
  const std::unique_ptr<TransportMemory> inner_;
  mutable std::vector<char> own_;
};

class StreamTransport final : public Transport {
 public:
  explicit StreamTransport(std::unique_ptr<Transport> inner)
      : inner_(std::move(inner)) {}
  ~StreamTransport() override {
    std::unique_lock<std::mutex> lock(mutex_);
    MUSTER_CHECK(changed_.wait_for(lock, kDeadline, [this] {
      return pending_ == 0;
    })) << "work on a stream does not end";
  }

  const char* name() const override { return inner_->name(); }

  absl::Status Execute(const Operation& operation,
                       const OperationContext& context) override {
    if (operation.kind == OperationKind::kBarrier ||
        operation.kind == OperationKind::kSplit) {
      WaitForAll();
      return inner_->Execute(operation, context);
    }
    if (operation.stream == nullptr) {
      return absl::InvalidArgumentError("the operation has no stream");
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.ok()) return failure_;
    ++pending_;
    Operation here = operation;
    here.input = StreamDevice::Here(operation.input);
    here.output = StreamDevice::Here(operation.output);
    here.stream = nullptr;
    static_cast<WorkStream*>(operation.stream)->Add([this, here, context] {
      const absl::Status status = inner_->Execute(here, context);
      const std::lock_guard<std::mutex> inner_lock(mutex_);
      if (failure_.ok()) failure_ = status;
      --pending_;
      changed_.notify_all();
    });
    return absl::OkStatus();
  }

  void Abort(const std::string& reason) override { inner_->Abort(reason); }

  absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t bytes, const OperationContext& context) override {
    WaitForAll();
    auto memory = inner_->Allocate(bytes, context);
    if (!memory.ok() && !absl::IsUnimplemented(memory.status())) {
      return memory.status();
    }
    return std::make_unique<DeviceMemory>(
        memory.ok() ? *std::move(memory) : nullptr, bytes);
  }

 private:
  void WaitForAll() {
    std::unique_lock<std::mutex> lock(mutex_);
    MUSTER_CHECK(changed_.wait_for(lock, kDeadline, [this] {
      return pending_ == 0;
    })) << "work on a stream does not end";
  }

  const std::unique_ptr<Transport> inner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int pending_ = 0;       // number of pending operations; guarded by mutex_
  absl::Status failure_;  // first failure of an operation; guarded by mutex_
};

}  // namespace

WorkStream::~WorkStream() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void WorkStream::Add(std::function<void()> work) {
  const std::lock_guard<std::mutex> lock(mutex_);
  work_.push_back(std::move(work));
  changed_.notify_all();
}

void WorkStream::Drain() {
  std::unique_lock<std::mutex> lock(mutex_);
  MUSTER_CHECK(changed_.wait_for(lock, kDeadline, [this] {
    return work_.empty();
  })) << "work on a stream does not end";
}

void WorkStream::Loop() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !work_.empty(); });
    if (work_.empty()) return;
    lock.unlock();
    work_.front()();
    lock.lock();
    work_.pop_front();
    changed_.notify_all();
  }
}

void* StreamDevice::There(void* host) {
  if (host == nullptr) return nullptr;
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(host) | kThere);
}

void* StreamDevice::Here(const void* device) {
  if (device == nullptr) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(device);
  MUSTER_CHECK((address & kThere) != 0)
      << "an address of the host where the device's is needed";
  return reinterpret_cast<void*>(address & ~kThere);
}

absl::StatusOr<std::shared_ptr<void>> StreamDevice::Allocate(int64_t bytes) {
  if (bytes > left_) {
    return absl::ResourceExhaustedError("the device's memory is full");
  }
  left_ -= bytes;
  const size_t size = static_cast<size_t>(bytes) + 1;
  void* const memory = std::malloc(size);
  // Fill the memory with 0xff bytes, which are NaNs, so that a read before the
  // first write gives wrong results.
  std::memset(memory, 0xff, size);
  return std::shared_ptr<void>(There(memory),
                               [memory](void*) { std::free(memory); });
}

void* StreamDevice::handle(Stream stream) const { return &Of(stream); }

void StreamDevice::WaitForOther(Stream stream) {
  auto reached = std::make_shared<std::promise<void>>();
  const std::shared_future<void> event = reached->get_future().share();
  Of(stream == Stream::kCompute ? Stream::kCommunication : Stream::kCompute)
      .Add([reached] { reached->set_value(); });
  Of(stream).Add([event] {
    MUSTER_CHECK(event.wait_for(kDeadline) == std::future_status::ready)
        << "the other stream does not come to the event";
  });
}

void StreamDevice::CopyIn(void* to, const void* from, int64_t bytes) {
  const auto* const begin = static_cast<const char*>(from);
  Of(Stream::kCompute)
      .Add([to, copy = std::vector<char>(begin, begin + bytes), bytes] {
        HostDevice().CopyIn(Here(to), copy.data(), bytes);
      });
}

void StreamDevice::CopyOut(void* to, const void* from, int64_t bytes) {
  Of(Stream::kCompute).Add([=] {
    HostDevice().CopyOut(to, Here(from), bytes);
  });
  Wait();
}

void StreamDevice::Copy(Stream stream, void* to, const void* from,
                        int64_t bytes) {
  Of(stream).Add(
      [=] { HostDevice().Copy(stream, Here(to), Here(from), bytes); });
}

void StreamDevice::Zero(Stream stream, void* at, int64_t bytes) {
  Of(stream).Add([=] { HostDevice().Zero(stream, Here(at), bytes); });
}

void StreamDevice::Convert(Stream stream, const TensorData& from,
                           const TensorData& to, DType precision) {
  Of(stream).Add(
      [=] { HostDevice().Convert(stream, Host(from), Host(to), precision); });
}

void StreamDevice::AddSquares(const TensorData& values, int64_t* words) {
  Of(Stream::kCompute).Add([=] {
    HostDevice().AddSquares(Host(values), Host(words));
  });
}

absl::Status StreamDevice::Update(const UpdateRule& rule,
                                  const OptimizerStep& step,
                                  const WeightUpdate& update) {
  if (rule.adamw() == nullptr && rule.sgd() == nullptr) {
    return absl::InvalidArgumentError("a rule that this device does not have");
  }
  WeightUpdate here = update;
  here.weights = Host(update.weights);
  here.gradient = Host(update.gradient);
  here.values = Host(update.values);
  for (float*& state : here.states) state = Host(state);
  Of(Stream::kCompute).Add([&rule, step, here] {
    MUSTER_CHECK(HostDevice().Update(rule, step, here).ok())
        << "the host has every rule";
  });
  return absl::OkStatus();
}

TransportFactory OnStreams(TransportFactory inner) {
  return [inner = std::move(inner)](
             GroupPlace place,
             Instant deadline) -> absl::StatusOr<std::unique_ptr<Transport>> {
    auto made = inner(std::move(place), deadline);
    if (!made.ok()) return made.status();
    return std::make_unique<StreamTransport>(*std::move(made));
  };
}

}  // namespace muster
