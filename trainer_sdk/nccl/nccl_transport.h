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
  // The CUDA device that this rank's buffers are on, as this process numbers
  // them. -1: the calling thread's current one, else the only one.
  int device = -1;
  // The group's NCCL id in hexadecimal digits, the same on every rank: for a
  // world, TakeWorldNcclId(). Empty: rank 0 makes one and the store carries it.
  std::string unique_id;
  // How long the destructor waits for operations under way before it aborts
  // them, and then for the abort.
  Duration close_timeout = std::chrono::seconds(10);
  // How long a rank whose operation is late waits for its peers' accounts of
  // what they are doing, before it says what is known.
  Duration explanation_timeout = std::chrono::seconds(3);
  // Told once, from a thread of the transport's own, when the group breaks: an
  // operation that Execute has put on a stream fails later than Execute.
  std::function<void(const absl::Status& cause)> on_broken;
  // Where the libraries are; see NcclLibrary and CudaDriver.
  std::string nccl_library = NcclLibrary::DefaultName();
  std::string cuda_library = "libcuda.so.1";
};

// A transport for buffers in GPU memory, over a non-blocking communicator of
// NCCL 2.14 or newer. Collective: every rank of the group calls it.
//
// Execute puts an operation on `operation.stream` and returns when NCCL has
// launched it; a barrier alone is waited for on the host. A thread watches each
// operation until the device has done it: one that is late, a connection that
// NCCL found broken, a peer that gave up, the end of the round (the store is
// gone) or Abort break the group. Then NCCL aborts what is under way, the
// streams run on, over buffers with undefined contents, and every later call
// fails with the cause. No thread is inside NCCL at that time.
//
// When one is late, the ranks tell each other through the store what each has
// called that is not done, and the cause says who called something else, or is
// behind: with operations put on streams one after another, those are not the
// ones that are being called by then. AVG, as NCCL does it, multiplies
// floating-point inputs by 1/n before it adds them. Tags are not told apart:
// messages between two ranks arrive in the order of their sending. Allocate
// gives memory that NCCL has registered (2.19), or plain device memory.
//
// NotFound: no NCCL or no driver here, and what helps. FailedPrecondition: the
// driver does not work, or NCCL_COMM_BLOCKING takes the deadlines away.
// InvalidArgument: the device or the id is wrong. DeadlineExceeded: who did not
// come. Unavailable: NCCL failed, in its words.
absl::StatusOr<std::unique_ptr<Transport>> NewNcclTransport(GroupPlace place,
                                                            NcclOptions options,
                                                            Instant deadline);

// Splits `parent`, which NewNcclTransport or this made. Collective over all of
// its ranks: those with the same `color` >= 0 become a group, ranked by `key`
// and then by their rank in the parent, which is what `place` must say already;
// a rank with a negative color gets null. By ncclCommSplit where NCCL has it
// (2.18), which shares what the parent knows of the machines; else by a new id
// through the new group's store. Where it fails on one rank, `parent` breaks,
// and the others' share ends: at once where `place` has a formation, which is
// told of it or finds the store gone; else within a second or two.
// DeadlineExceeded says who did not come.
absl::StatusOr<std::unique_ptr<Transport>> SplitNcclTransport(
    Transport& parent, int color, int key, GroupPlace place, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_NCCL_TRANSPORT_H_
