#ifndef MUSTER_TRAINER_SDK_NCCL_FAKE_NCCL_CONTROL_H_
#define MUSTER_TRAINER_SDK_NCCL_FAKE_NCCL_CONTROL_H_

#include <atomic>

namespace muster {

// Settings and counters by which tests control libfake_nccl.so. Each loaded
// library has one such object, which its function `FakeNccl` returns. A setting
// holds until it is changed.
struct FakeNcclControl {
  std::atomic<int> version = 22809;
  std::atomic<int> devices = 1;
  std::atomic<int> init_result = 0;       // result that cuInit returns
  std::atomic<int> unique_id_result = 0;  // result that ncclGetUniqueId returns
  // For each call of NCCL, how many times the communicator returns
  // ncclInProgress before the call is done.
  std::atomic<int> polls = 0;
  // The rank on which initialising a communicator fails with ncclSystemError;
  // -1: none.
  std::atomic<int> rank_that_fails_to_join = -1;
  // The rank on which ncclCommSplit immediately returns ncclSystemError; -1:
  // none.
  std::atomic<int> rank_that_fails_to_split = -1;
  // The asynchronous error that every communicator reports from now on; 0:
  // none.
  std::atomic<int> async_error = 0;
  // Whether ncclCommAbort blocks until this setting is reset.
  std::atomic<bool> abort_hangs = false;

  std::atomic<int> live_communicators = 0;
  std::atomic<int> live_events = 0;
  std::atomic<int> live_allocations = 0;
  std::atomic<int> aborts = 0;
  // number of communicators destroyed normally, after ncclCommFinalize
  std::atomic<int> destroyed = 0;
  std::atomic<int> splits = 0;    // number of calls of ncclCommSplit
  std::atomic<int> launches = 0;  // number of calls of cuLaunchKernel
};

// Creates a stream. It runs asynchronously on a thread of its own, like the
// stream of a GPU. The null stream is a separate stream for each calling
// thread.
using FakeStreamFunction = void*();
// Waits until all work on the stream is done, then destroys the stream.
using FakeStreamEndFunction = void(void*);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_FAKE_NCCL_CONTROL_H_
