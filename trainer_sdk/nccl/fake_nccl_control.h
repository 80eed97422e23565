#ifndef MUSTER_TRAINER_SDK_NCCL_FAKE_NCCL_CONTROL_H_
#define MUSTER_TRAINER_SDK_NCCL_FAKE_NCCL_CONTROL_H_

#include <atomic>

namespace muster {

// The interface between tests and libfake_nccl.so. Each library has one, which
// the function `FakeNccl` returns. Settings hold until they are changed.
struct FakeNcclControl {
  std::atomic<int> version = 22809;
  std::atomic<int> devices = 1;
  std::atomic<int> init_result = 0;       // result of cuInit
  std::atomic<int> unique_id_result = 0;  // result of ncclGetUniqueId
  // The number of times that a communicator returns ncclInProgress before each
  // call is done.
  std::atomic<int> polls = 0;
  // The rank whose initialisation fails with ncclSystemError; -1: none.
  std::atomic<int> rank_that_fails_to_join = -1;
  // The rank for which ncclCommSplit immediately returns ncclSystemError; -1:
  // none.
  std::atomic<int> rank_that_fails_to_split = -1;
  // The asynchronous error of every communicator from now on.
  std::atomic<int> async_error = 0;
  // Whether ncclCommAbort blocks.
  std::atomic<bool> abort_hangs = false;

  std::atomic<int> live_communicators = 0;
  std::atomic<int> live_events = 0;
  std::atomic<int> live_allocations = 0;
  std::atomic<int> aborts = 0;
  // number of communicators destroyed after ncclCommFinalize
  std::atomic<int> destroyed = 0;
  std::atomic<int> splits = 0;  // number of ncclCommSplit calls
};

// Makes a stream with a thread of its own; like a GPU's streams, it runs
// asynchronously. The null stream is one per calling thread.
using FakeStreamFunction = void*();
// Waits until the stream is empty, then destroys it.
using FakeStreamEndFunction = void(void*);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_FAKE_NCCL_CONTROL_H_
