#ifndef MUSTER_TRAINER_SDK_NCCL_PROFILER_PROFILER_ABI_H_
#define MUSTER_TRAINER_SDK_NCCL_PROFILER_PROFILER_ABI_H_

#include <cstddef>
#include <cstdint>

namespace muster {

// The structs and functions of NCCL's profiler interface, versions 3 to 5, with
// only the fields that this plug-in reads. NCCL looks up the symbols
// ncclProfiler_v3 (NCCL 2.26), _v4 (2.27) and _v5 (2.28), newest first; newer
// releases of NCCL also accept these versions. All functions return an
// ncclResult_t, where 0 is success.

// Bits of the mask of event types that a plug-in requests. NCCL reports a
// point-to-point event when it enqueues a send or receive. While the kernel of
// an operation runs, NCCL reports a kernel channel event for each of its
// channels.
inline constexpr int kPointToPointEvent = 1 << 2;
inline constexpr int kKernelChannelEvent = 1 << 6;

// The state that NCCL reports when a kernel channel event ends.
inline constexpr int kKernelChannelStopped = 22;

// The first fields of the struct with which NCCL describes an event; its
// further fields are not read. `Type` is uint8_t up to version 4, uint64_t in
// version 5.
template <typename Type>
struct ProfilerEvent {
  Type type = 0;  // the event's type, such as kKernelChannelEvent
  void* parent = nullptr;
  int rank = 0;
  struct alignas(8) {
    uint8_t channel = 0;
    // The time at which the kernel began its work in this channel, in
    // nanoseconds of the GPU's global timer. Absent in version 3.
    uint64_t timer = 0;
  } kernel_channel;
};
static_assert(offsetof(ProfilerEvent<uint8_t>, kernel_channel) == 24);
static_assert(offsetof(ProfilerEvent<uint64_t>, kernel_channel) == 24);

// The data that NCCL passes when it reports a new state of an event. `timer`:
// the time at which the kernel ended its work in the channel; valid only for
// the state kKernelChannelStopped, from version 4 on.
struct ProfilerState {
  uint64_t timer = 0;
};

// The type of NCCL's logging function, which NCCL passes to `init`. This
// plug-in does not call it.
using ProfilerLog = void (*)(int level, unsigned long flags, const char* file,
                             int line, const char* format, ...);

// The functions that follow `init` in the function table of each version of
// NCCL's profiler interface (ProfilerV3 to ProfilerV5).
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
