#include "launcher/gpu_pair/measure_gpus.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/poll.h"
#include "trainer_sdk/nccl/nccl_communicator.h"

namespace muster::launcher {
namespace {

// The kernel: each thread performs 8 * `rounds` multiplications and additions,
// and writes its result to `out`, so that no compiler removes them.
constexpr char kPtx[] = R"(.version 7.0
.target sm_50
.address_size 64
.visible .entry muster_multiply(.param .u64 out, .param .u32 rounds)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .f32 %f<10>;
  .reg .b64 %a<4>;
  ld.param.u64 %a0, [out];
  ld.param.u32 %r0, [rounds];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  cvt.rn.f32.u32 %f0, %r3;
  mov.f32 %f1, 0f3F7FFFEF;
  add.f32 %f2, %f0, 0f3F800000;
  add.f32 %f3, %f0, 0f40000000;
  add.f32 %f4, %f0, 0f40400000;
  add.f32 %f5, %f0, 0f40800000;
loop:
  fma.rn.f32 %f2, %f2, %f1, %f0;
  fma.rn.f32 %f3, %f3, %f1, %f0;
  fma.rn.f32 %f4, %f4, %f1, %f0;
  fma.rn.f32 %f5, %f5, %f1, %f0;
  fma.rn.f32 %f2, %f2, %f1, %f0;
  fma.rn.f32 %f3, %f3, %f1, %f0;
  fma.rn.f32 %f4, %f4, %f1, %f0;
  fma.rn.f32 %f5, %f5, %f1, %f0;
  sub.u32 %r0, %r0, 1;
  setp.ne.u32 %p, %r0, 0;
  @%p bra loop;
  add.f32 %f2, %f2, %f3;
  add.f32 %f4, %f4, %f5;
  add.f32 %f2, %f2, %f4;
  mul.wide.u32 %a1, %r4, 4;
  add.u64 %a2, %a0, %a1;
  st.global.f32 [%a2], %f2;
  ret;
}
)";
constexpr char kKernel[] = "muster_multiply";
constexpr unsigned kBlocks = 1024;
constexpr unsigned kThreads = 256;
// The kernel's argument `rounds`. All threads together perform 1.3e12
// operations, which take tens of milliseconds on a data-centre GPU.
constexpr unsigned kRounds = 300'000;
constexpr size_t kOutBytes = size_t{kBlocks} * kThreads * sizeof(float);

// The first runs warm up: they raise the GPU's clock, or make NCCL connect.
constexpr int kWarmUpRuns = 2;
constexpr int kRuns = kWarmUpRuns + 3;
// The interval at which a thread polls its GPU: short compared with the
// measured times, but long enough that the threads of other GPUs get processor
// time.
constexpr Duration kLookInterval = std::chrono::microseconds(50);

// One GPU, used by one thread.
class Gpu {
 public:
  Gpu(const CudaDriver& cuda, Instant deadline)
      : cuda_(cuda), deadline_(deadline) {}
  ~Gpu() {
    if (event_ != nullptr) cuda_.DestroyEvent(event_);
    cuda_.Free(memory_);
  }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  // Allocates `bytes` of memory.
  absl::Status Prepare(size_t bytes) {
    const absl::StatusOr<CudaEvent> event = cuda_.NewEvent();
    if (!event.ok()) return event.status();
    event_ = *event;
    const absl::StatusOr<void*> memory = cuda_.Allocate(bytes);
    if (!memory.ok()) return memory.status();
    memory_ = *memory;
    return absl::OkStatus();
  }

  void* memory() const { return memory_; }

  // Returns the shortest time, in seconds, that the GPU needs for the work that
  // `start` starts on the null stream. `check` looks for errors meanwhile.
  absl::StatusOr<double> ShortestTime(
      const std::function<absl::Status()>& start,
      const std::function<absl::Status()>& check) const {
    double shortest_s = std::numeric_limits<double>::infinity();
    for (int run = 0; run < kRuns; ++run) {
      const Instant began = MonotonicNow();
      absl::Status done = start();
      if (done.ok()) done = cuda_.Record(event_, nullptr);
      if (done.ok()) done = Await(check);
      if (!done.ok()) return done;
      if (run < kWarmUpRuns) continue;
      shortest_s = std::min(shortest_s, ToSeconds(MonotonicNow() - began));
    }
    return shortest_s;
  }

 private:
  absl::Status Await(const std::function<absl::Status()>& check) const {
    while (true) {
      const absl::StatusOr<bool> happened = cuda_.HasHappened(event_);
      if (!happened.ok()) return happened.status();
      if (*happened) return absl::OkStatus();
      absl::Status sound = check();
      if (!sound.ok()) return sound;
      if (MonotonicNow() >= deadline_) {
        return absl::DeadlineExceededError("the GPU did not finish in time");
      }
      PauseUntil(MonotonicNow() + kLookInterval);
    }
  }

  const CudaDriver& cuda_;
  const Instant deadline_;
  CudaEvent event_ = nullptr;
  void* memory_ = nullptr;
};

absl::StatusOr<double> TimeKernel(const CudaDriver& cuda, CudaFunction kernel,
                                  const Gpu& gpu) {
  void* out = gpu.memory();
  unsigned rounds = kRounds;
  void* arguments[] = {&out, &rounds};
  return gpu.ShortestTime(
      [&] {
        return cuda.Launch(kernel, kBlocks, kThreads, arguments, nullptr);
      },
      [] { return absl::OkStatus(); });
}

absl::StatusOr<double> TimeAllReduce(
    const std::shared_ptr<const nccl::NcclLibrary>& nccl,
    const nccl::NcclUniqueId& id, const GpuRanks& ranks, int device,
    const Gpu& gpu, Instant deadline) {
  NcclCommunicator communicator(nccl);
  absl::Status joined = communicator.Join(id, ranks.first + device, ranks.size,
                                          "connecting the GPUs", deadline);
  if (!joined.ok()) return joined;
  const absl::StatusOr<double> time_s = gpu.ShortestTime(
      [&] {
        return communicator.Do(
            [&](nccl::NcclComm comm) {
              return nccl->AllReduce(gpu.memory(), gpu.memory(),
                                     ranks.reduced_bytes / sizeof(float),
                                     nccl::kNcclFloat32, nccl::kNcclSum, comm,
                                     nullptr);
            },
            "all-reduce", deadline);
      },
      [&] { return communicator.AsyncError(); });
  if (time_s.ok()) communicator.Close(deadline);
  return time_s;
}

}  // namespace

absl::StatusOr<GpuValues> MeasureGpus(
    const std::shared_ptr<const CudaDriver>& cuda,
    const std::shared_ptr<const nccl::NcclLibrary>& nccl,
    const nccl::NcclUniqueId& id, const GpuRanks& ranks, Instant deadline) {
  // The GPUs' threads meet at this barrier before and after the arithmetic, so
  // that all GPUs compute at the same time. No GPU is prepared meanwhile: the
  // preparation holds locks of the driver, which would delay the arithmetic.
  // `meetings`, below: how many of the two meetings a thread still has to
  // attend. A thread that fails before its last meeting leaves the barrier.
  std::barrier meeting(ranks.count);
  const auto measure = [&](int device,
                           int& meetings) -> absl::StatusOr<GpuValues> {
    const absl::StatusOr<CudaContext> context = cuda->PrimaryContext(device);
    if (!context.ok()) return context.status();
    const ScopedCudaContext scope(*cuda, *context);
    if (!scope.status().ok()) return scope.status();
    Gpu gpu(*cuda, deadline);
    absl::Status prepared =
        gpu.Prepare(std::max(kOutBytes, ranks.reduced_bytes));
    if (!prepared.ok()) return prepared;
    const absl::StatusOr<CudaFunction> kernel = cuda->Compile(kPtx, kKernel);
    if (!kernel.ok()) return kernel.status();
    meeting.arrive_and_wait();
    --meetings;
    const absl::StatusOr<double> compute_s = TimeKernel(*cuda, *kernel, gpu);
    meeting.arrive_and_wait();
    --meetings;
    if (!compute_s.ok()) return compute_s.status();
    GpuValues values{.compute_s = *compute_s};
    if (ranks.size == 0) return values;
    const absl::StatusOr<double> reduce_s =
        TimeAllReduce(nccl, id, ranks, device, gpu, deadline);
    if (!reduce_s.ok()) return reduce_s.status();
    const double sent_bytes = 2.0 * (ranks.size - 1) / ranks.size *
                              static_cast<double>(ranks.reduced_bytes);
    values.bytes_per_s = sent_bytes / *reduce_s;
    return values;
  };
  std::vector<absl::StatusOr<GpuValues>> measured(
      static_cast<size_t>(ranks.count), absl::UnknownError("not measured"));
  std::vector<std::thread> threads;
  threads.reserve(measured.size());
  for (int device = 0; device < ranks.count; ++device) {
    threads.emplace_back([&, device] {
      int meetings = 2;
      measured[static_cast<size_t>(device)] = measure(device, meetings);
      if (meetings > 0) meeting.arrive_and_drop();
    });
  }
  for (std::thread& thread : threads) thread.join();
  GpuValues values{.bytes_per_s = std::numeric_limits<double>::infinity()};
  // If one GPU fails, the other GPUs wait for it and report DeadlineExceeded.
  // So an error of another kind is the first failure; report that error.
  absl::Status failure;
  for (int device = 0; device < ranks.count; ++device) {
    const absl::StatusOr<GpuValues>& one =
        measured[static_cast<size_t>(device)];
    if (one.ok()) {
      values.bytes_per_s = std::min(values.bytes_per_s, one->bytes_per_s);
      values.compute_s = std::max(values.compute_s, one->compute_s);
    } else if (failure.ok() || (absl::IsDeadlineExceeded(failure) &&
                                !absl::IsDeadlineExceeded(one.status()))) {
      failure = absl::Status(
          one.status().code(),
          absl::StrCat("GPU ", device, ": ", one.status().message()));
    }
  }
  if (!failure.ok()) return failure;
  return values;
}

}  // namespace muster::launcher
