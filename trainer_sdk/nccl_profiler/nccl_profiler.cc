// The source of libmuster_nccl_profiler.so, a profiler plug-in of NCCL (`launch
// --profile-collectives` sets NCCL_PROFILER_PLUGIN). NCCL loads the plug-in
// into a worker and reports to it when the kernels of collectives run. A kernel
// runs from the time at which this rank's stream reaches the operation until
// all ranks have taken part, so its duration includes the wait for later ranks.
// The plug-in reports two durations to the agent: how long at least one kernel
// ran ("blocked"), and the rest, which is the rank's own work. A process group
// of the SDK reports its operations on the host in the same way.
//
// In versions 4 and 5 of NCCL's interface, times are those of the GPU's timer.
// In version 3, the plug-in uses the times at which a thread of NCCL reports
// the beginning and the end of a kernel. These reports are late if the
// processor is busy.
//
// No function here allocates memory per event, blocks, or returns an error to
// NCCL.

#include <cstdint>

#include "base/monotonic_clock.h"
#include "trainer_sdk/nccl_profiler/profiler_abi.h"
#include "trainer_sdk/progress/progress.h"
#include "trainer_sdk/rank_time/rank_time.h"

namespace muster {
namespace {

constexpr int kSuccess = 0;
constexpr char kName[] = "Muster";

// The plug-in gives NCCL the address of this variable as the handle of every
// kernel channel event. The variable's value is not used.
char kernel_event;

Instant At(uint64_t timer) {
  return Instant(Duration(static_cast<int64_t>(timer)));
}

void Exit(Instant now) {
  if (RankTime::Process().Exit(now)) ReportRankTime(now);
}

int Init(void** context, int* event_types) {
  *context = nullptr;
  *event_types = kKernelChannelEvent | kPointToPointEvent;
  return kSuccess;
}

// Handles the beginning of an event. `now`: the time at which a kernel channel
// event began; not used for other events.
template <typename Type>
int Start(const ProfilerEvent<Type>& event, Instant now, void** handle) {
  *handle = nullptr;
  if (event.type == kPointToPointEvent) {
    // Stop measuring: ranks that exchange messages, such as the stages of a
    // pipeline, do different work, so their times cannot be compared.
    RankTime::Process().Stop();
  } else if (event.type == kKernelChannelEvent) {
    RankTime::Process().Enter(now);
    *handle = &kernel_event;
  }
  return kSuccess;
}

template <typename Type>
int StartTimed(void* /*context*/, void** handle, ProfilerEvent<Type>* event) {
  return Start(*event, At(event->kernel_channel.timer), handle);
}

int StartUntimed(void* /*context*/, void** handle,
                 ProfilerEvent<uint8_t>* event) {
  return Start(*event, MonotonicNow(), handle);
}

int StopTimed(void* /*handle*/) { return kSuccess; }

int StopUntimed(void* handle) {
  if (handle == &kernel_event) Exit(MonotonicNow());
  return kSuccess;
}

int RecordTimed(void* handle, int state, ProfilerState* more) {
  if (handle == &kernel_event && state == kKernelChannelStopped) {
    Exit(At(more->timer));
  }
  return kSuccess;
}

int RecordUntimed(void* /*handle*/, int /*state*/, ProfilerState* /*more*/) {
  return kSuccess;
}

int Finalize(void* /*context*/) { return kSuccess; }

int InitV4(void** context, int* event_types, const char* /*group*/,
           uint64_t /*group_hash*/, int /*nodes*/, int /*ranks*/, int /*rank*/,
           ProfilerLog /*log*/) {
  return Init(context, event_types);
}

int InitV5(void** context, uint64_t /*group_id*/, int* event_types,
           const char* /*group*/, int /*nodes*/, int /*ranks*/, int /*rank*/,
           ProfilerLog /*log*/) {
  return Init(context, event_types);
}

}  // namespace
}  // namespace muster

#pragma GCC visibility push(default)
extern "C" {

muster::ProfilerV3 ncclProfiler_v3 = {
    .name = muster::kName,
    .init = muster::Init,
    .calls = {.start_event = muster::StartUntimed,
              .stop_event = muster::StopUntimed,
              .record_state = muster::RecordUntimed,
              .finalize = muster::Finalize}};

muster::ProfilerV4 ncclProfiler_v4 = {
    .name = muster::kName,
    .init = muster::InitV4,
    .calls = {.start_event = muster::StartTimed<uint8_t>,
              .stop_event = muster::StopTimed,
              .record_state = muster::RecordTimed,
              .finalize = muster::Finalize}};

muster::ProfilerV5 ncclProfiler_v5 = {
    .name = muster::kName,
    .init = muster::InitV5,
    .calls = {.start_event = muster::StartTimed<uint64_t>,
              .stop_event = muster::StopTimed,
              .record_state = muster::RecordTimed,
              .finalize = muster::Finalize}};

}  // extern "C"
#pragma GCC visibility pop
