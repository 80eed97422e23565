#ifndef MUSTER_TRAINER_SDK_NCCL_FAKE_NCCL_CONTROL_H_
#define MUSTER_TRAINER_SDK_NCCL_FAKE_NCCL_CONTROL_H_

#include <atomic>

namespace muster {

// What tests tell libfake_nccl.so, and what it tells them: one of it in each
// library, found as the function `FakeNccl`. Knobs hold until set again.
struct FakeNcclControl {
  std::atomic<int> version = 22809;
  std::atomic<int> devices = 1;
  std::atomic<int> init_result = 0;       // of cuInit
  std::atomic<int> unique_id_result = 0;  // of ncclGetUniqueId
  // How often a communicator says ncclInProgress before each call is done.
  std::atomic<int> polls = 0;
  // The rank whose initialisation fails with ncclSystemError; -1: none.
  std::atomic<int> rank_that_fails_to_join = -1;
  // The rank for which ncclCommSplit returns that at once; -1: none.
  std::atomic<int> rank_that_fails_to_split = -1;
  // What every communicator's asynchronous error is from now on.
  std::atomic<int> async_error = 0;
  // ncclCommAbort comes back only when this is false.
  std::atomic<bool> abort_hangs = false;

  std::atomic<int> live_communicators = 0;
  std::atomic<int> live_events = 0;
  std::atomic<int> live_allocations = 0;
  std::atomic<int> aborts = 0;
  std::atomic<int> destroyed = 0;  // after ncclCommFinalize
  std::atomic<int> splits = 0;     // calls
};

// A stream of its own thread, as a GPU's is of its own time. The null stream
// is one of the calling thread.
using FakeStreamFunction = void*();
// Waits until all that is on the stream is done, then ends it.
using FakeStreamEndFunction = void(void*);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_FAKE_NCCL_CONTROL_H_
