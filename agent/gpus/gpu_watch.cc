#include "agent/gpus/gpu_watch.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "agent/gpus/nvml.h"
#include "agent/gpus/read_gpu_values.h"
#include "agent/health/within.h"
#include "base/monotonic_clock.h"

namespace muster::agent {
namespace {

using Device = NvmlLibrary::Device;
using Result = NvmlLibrary::Result;
constexpr Result kSuccess = NvmlLibrary::kSuccess;

// The longest time that the destructor waits for the threads.
constexpr Duration kEndTimeout = std::chrono::seconds(1);
// The longest wait for an Xid, in milliseconds. After each wait the thread
// checks whether it must end.
constexpr unsigned kEventWaitMs = 200;
// The pause after a wait for Xids has failed (a timeout is no failure). If a
// GPU is lost, each wait fails at once. Without the pause, the thread would
// then repeat failing calls all the time.
constexpr Duration kPauseAfterFailure = std::chrono::seconds(1);
constexpr Duration kLongestWait = std::chrono::hours(1);
// The maximum number of Xids that are kept until Follow sets a callback.
constexpr size_t kMaxPending = 16;

// An event of a GPU, with the memory layout of nvmlEventData_t in nvml.h.
struct EventData {
  Device device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};
// event type "the driver reported an Xid" (nvmlEventTypeXidCriticalError of
// nvml.h)
constexpr unsigned long long kXidEvent = 8;
using EventSet = struct NvmlEventSet*;

}  // namespace

struct GpuWatch::State {
  explicit State(Options given) : options(std::move(given)) {}

  const Options options;
  const Instant began = MonotonicNow();
  std::mutex mutex;
  std::condition_variable changed;
  // The following members are guarded by `mutex`.
  bool stop = false;
  // number of running threads: at most two, one that reads values and one that
  // listens for Xids
  int running = 0;
  std::optional<Instant> looked;
  bool has_driver = true;
  // time at which the newest successful reading of the GPUs' values began;
  // before the first such reading, the time at which the GpuWatch was made
  Instant read_at = began;
  std::vector<GpuValues> values;
  std::vector<GpuXids> xids;
  std::function<void(const XidSeen&)> on_xid;
  // Xids that came while no callback was set, oldest first
  std::deque<XidSeen> pending;
};

GpuWatch::GpuWatch(Options options)
    : state_(std::make_shared<State>(std::move(options))) {
  for (const auto work : {&GpuWatch::ReadValues, &GpuWatch::ListenForXids}) {
    {
      std::lock_guard<std::mutex> lock(state_->mutex);
      ++state_->running;
    }
    const bool started = StuckCalls::Start([state = state_, work] {
      work(state);
      std::lock_guard<std::mutex> lock(state->mutex);
      --state->running;
      state->changed.notify_all();
    });
    std::lock_guard<std::mutex> lock(state_->mutex);
    if (!started) --state_->running;
  }
}

GpuWatch::~GpuWatch() {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->stop = true;
  state_->changed.notify_all();
  state_->changed.wait_until(lock, ToSteady(MonotonicNow() + kEndTimeout),
                             [this] { return state_->running == 0; });
}

void GpuWatch::Follow(std::function<void(const XidSeen&)> on_xid) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->on_xid = std::move(on_xid);
  if (!state_->on_xid) return;
  for (const XidSeen& seen : state_->pending) state_->on_xid(seen);
  state_->pending.clear();
}

GpuSnapshot GpuWatch::Look() {
  std::lock_guard<std::mutex> lock(state_->mutex);
  const Instant now = MonotonicNow();
  state_->looked = now;
  state_->changed.notify_all();
  if (!state_->has_driver) return {};
  return {.age = now - state_->read_at,
          .gpus = state_->values,
          .xids = state_->xids};
}

void GpuWatch::ReadValues(const std::shared_ptr<State>& state) {
  std::unique_lock<std::mutex> lock(state->mutex);
  while (!state->stop) {
    lock.unlock();
    const Instant begin = MonotonicNow();
    auto values = ReadGpuValues(state->options.library);
    lock.lock();
    if (absl::IsNotFound(values.status())) {
      state->has_driver = false;
      return;
    }
    if (values.ok()) {
      state->values = *std::move(values);
      state->read_at = begin;
    }
    const Instant next = begin + state->options.interval;
    state->changed.wait_until(lock, ToSteady(next),
                              [&] { return state->stop; });
    const auto is_wanted = [&] {
      return state->stop ||
             (state->looked.has_value() &&
              MonotonicNow() - *state->looked < state->options.idle_after);
    };
    while (!is_wanted()) {
      state->changed.wait_until(lock, ToSteady(MonotonicNow() + kLongestWait),
                                is_wanted);
    }
  }
}

void GpuWatch::ListenForXids(const std::shared_ptr<State>& state) {
  const NvmlLibrary nvml(state->options.library);
  if (!nvml.loaded() || nvml.Call("nvmlInit_v2") != kSuccess) return;
  const absl::Cleanup shut_down = [&] { nvml.Call("nvmlShutdown"); };
  EventSet set = nullptr;
  unsigned count = 0;
  if (nvml.Call("nvmlEventSetCreate", &set) != kSuccess) return;
  const absl::Cleanup free_set = [&] { nvml.Call("nvmlEventSetFree", set); };
  if (nvml.Call("nvmlDeviceGetCount_v2", &count) != kSuccess) return;
  // devices that report Xids, in the order of State::xids
  std::vector<Device> devices;
  std::vector<GpuXids> xids;
  for (unsigned i = 0; i < std::min(count, NvmlLibrary::kMaxGpus); ++i) {
    Device device = nullptr;
    Result result = nvml.Call("nvmlDeviceGetHandleByIndex_v2", i, &device);
    if (result != kSuccess) continue;
    const std::string uuid = nvml.IdOf(device, &result);
    if (result != kSuccess || nvml.Call("nvmlDeviceRegisterEvents", device,
                                        kXidEvent, set) != kSuccess) {
      continue;
    }
    devices.push_back(device);
    xids.push_back({static_cast<int>(i), uuid, {}});
  }
  if (devices.empty()) return;
  std::unique_lock<std::mutex> lock(state->mutex);
  state->xids = std::move(xids);
  while (!state->stop) {
    lock.unlock();
    EventData event = {};
    const Result result =
        nvml.Call("nvmlEventSetWait_v2", set, &event, kEventWaitMs);
    lock.lock();
    if (result == NvmlLibrary::kTimeout) continue;
    if (result != kSuccess) {
      state->changed.wait_until(lock,
                                ToSteady(MonotonicNow() + kPauseAfterFailure),
                                [&] { return state->stop; });
      continue;
    }
    if (event.type != kXidEvent || state->stop) continue;
    XidSeen seen;
    seen.xid = static_cast<int>(event.data);
    const auto found = std::ranges::find(devices, event.device);
    if (found != devices.end()) {
      GpuXids& gpu = state->xids[found - devices.begin()];
      Count(seen.xid, gpu.counts);
      seen.gpu = gpu.index;
      seen.uuid = gpu.uuid;
    }
    // Call the callback while this thread holds `mutex`. Follow and the
    // destructor lock `mutex` to replace the callback. So after they have
    // returned, this thread cannot call the earlier callback any more.
    if (state->on_xid) {
      state->on_xid(seen);
      continue;
    }
    state->pending.push_back(std::move(seen));
    if (state->pending.size() > kMaxPending) state->pending.pop_front();
  }
}

}  // namespace muster::agent
