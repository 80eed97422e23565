#ifndef MUSTER_TRAINER_SDK_NCCL_PROFILER_PROFILER_ABI_H_
#define MUSTER_TRAINER_SDK_NCCL_PROFILER_PROFILER_ABI_H_

#include <cstddef>
#include <cstdint>

namespace muster {

// The layouts of NCCL's profiler interface, versions 3 to 5, as far as this
// plug-in reads them. NCCL looks up the symbols ncclProfiler_v3 (NCCL 2.26),
// _v4 (2.27) and _v5 (2.28), newest first; newer releases of NCCL also accept
// these versions. All functions return an ncclResult_t, where 0 is success.

// Bits of the event types that a plug-in asks for. NCCL reports an event of a
// point-to-point operation when it enqueues the operation, and an event for
// each channel of an operation's kernel while the kernel runs.
inline constexpr int kPointToPointEvent = 1 << 2;
inline constexpr int kKernelChannelEvent = 1 << 6;

// The state of a kernel channel event that has ended.
inline constexpr int kKernelChannelStopped = 22;

// The beginning of an event's description. `Type` is uint8_t up to version 4,
// uint64_t from version 5 on. NCCL's struct continues with the fields of other
// events.
template <typename Type>
struct ProfilerEvent {
  Type type = 0;  // one of the bits above
  void* parent = nullptr;
  int rank = 0;
  struct alignas(8) {
    uint8_t channel = 0;
    // When the kernel began its part in this channel: the GPU's global timer,
    // nanoseconds. Not in version 3.
    uint64_t timer = 0;
  } kernel_channel;
};
static_assert(offsetof(ProfilerEvent<uint8_t>, kernel_channel) == 24);
static_assert(offsetof(ProfilerEvent<uint64_t>, kernel_channel) == 24);

// The arguments of a change of an event's state. `timer`: when the kernel ended
// its part in the channel, for kKernelChannelStopped from version 4 on.
struct ProfilerState {
  uint64_t timer = 0;
};

// NCCL's function for log lines; not called here.
using ProfilerLog = void (*)(int level, unsigned long flags, const char* file,
                             int line, const char* format, ...);

// The functions that all versions have, after the version's own `init`.
template <typename Type>
struct ProfilerCalls {
  int (*start_event)(void* context, void** handle, ProfilerEvent<Type>* event);
  int (*stop_event)(void* handle);
  int (*record_state)(void* handle, int state, ProfilerState* more);
  int (*finalize)(void* context);
};

struct ProfilerV3 {
  const char* name;
  int (*init)(void** context, int* event_types);
  ProfilerCalls<uint8_t> calls;
};
struct ProfilerV4 {
  const char* name;
  int (*init)(void** context, int* event_types, const char* group,
              uint64_t group_hash, int nodes, int ranks, int rank,
              ProfilerLog log);
  ProfilerCalls<uint8_t> calls;
};
struct ProfilerV5 {
  const char* name;
  int (*init)(void** context, uint64_t group_id, int* event_types,
              const char* group, int nodes, int ranks, int rank,
              ProfilerLog log);
  ProfilerCalls<uint64_t> calls;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_PROFILER_PROFILER_ABI_H_
