#ifndef MUSTER_TRAINER_SDK_NCCL_NCCL_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_NCCL_NCCL_TRANSPORT_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "nccl/nccl_library.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

struct NcclOptions {
  // The index, in this process, of the CUDA device that holds this rank's
  // buffers. -1: the calling thread's current device; if the thread has none,
  // the only device.
  int device = -1;
  // The group's NCCL id in hexadecimal, equal on every rank. For the world,
  // pass TakeWorldNcclId(). Empty: rank 0 creates an id and publishes it in the
  // store.
  std::string unique_id;
  // The longest time for which the destructor waits. In the first half of this
  // time, pending operations may end normally; then they are aborted. The
  // second half is for the abort.
  Duration close_timeout = std::chrono::seconds(10);
  // If an operation of this rank is late, the rank waits for its peers' reports
  // of their unfinished operations, at most for this time. The error compares
  // the operations that have been reported by then.
  Duration explanation_timeout = std::chrono::seconds(3);
  // Called once, on the transport's own thread, when the group breaks. This
  // callback is needed because an operation may fail after Execute has enqueued
  // it and returned.
  std::function<void(const absl::Status& cause)> on_broken;
  // The file names of NCCL and of the CUDA driver, which are loaded at run
  // time.
  std::string nccl_library = nccl::NcclLibrary::DefaultName();
  std::string cuda_library = "libcuda.so.1";
};

// Makes a transport for buffers in GPU memory, which uses a non-blocking
// communicator of NCCL 2.14 or newer. Collective: every rank of the group calls
// it.
//
// Execute enqueues an operation on `operation.stream` and returns once NCCL has
// launched it; only a barrier blocks the host. A thread watches each operation
// until the device has completed it. The group breaks if an operation is late,
// NCCL reports a broken connection, a peer has failed, the round has ended (the
// store cannot be read), or Abort is called. Then NCCL aborts pending
// operations, the streams continue with undefined contents of the buffers, and
// every later call fails with the cause.
//
// If an operation is late, the ranks exchange their oldest unfinished
// operations through the store. The error names the ranks that called a
// different operation or fewer operations. Because operations are enqueued, the
// oldest unfinished operation of a rank is usually not the operation that the
// rank is calling at that time. AVG multiplies floating-point inputs by 1/n
// before it adds them, as NCCL does. Tags are ignored: messages between two
// ranks arrive in the order in which they were sent. Allocate returns memory
// registered with NCCL (2.19 or newer), or plain device memory.
//
// NotFound: NCCL or the CUDA driver is not installed; the message says what to
// do. FailedPrecondition: the driver does not work, or NCCL_COMM_BLOCKING makes
// deadlines impossible. InvalidArgument: the device or the id is wrong.
// DeadlineExceeded: some ranks did not call this function; the message names
// them.
// Unavailable: NCCL failed; the error has NCCL's message.
absl::StatusOr<std::unique_ptr<Transport>> NewNcclTransport(GroupPlace place,
                                                            NcclOptions options,
                                                            Instant deadline);

// Splits `parent`, a transport made by NewNcclTransport or by this function.
// Collective over all ranks of the parent: those with the same `color` >= 0
// become a group, ordered by `key` and then by their rank in the parent;
// `place` must have the resulting rank. A rank with a negative color gets null.
// Uses ncclCommSplit if NCCL has this function (2.18 or newer); NCCL then
// reuses the parent's knowledge of the topology. Otherwise exchanges a new NCCL
// id through the new group's store. If the split fails on one rank, it fails on
// the other ranks, too: immediately if place.formation is set, otherwise within
// one or two seconds. With ncclCommSplit, a failed split also breaks `parent`.
// DeadlineExceeded: some ranks did not call this function; the message names
// them.
absl::StatusOr<std::unique_ptr<Transport>> SplitNcclTransport(
    Transport& parent, int color, int key, GroupPlace place, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_NCCL_TRANSPORT_H_
