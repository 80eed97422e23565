#ifndef MUSTER_TRAINER_SDK_NCCL_NCCL_COMMUNICATOR_H_
#define MUSTER_TRAINER_SDK_NCCL_NCCL_COMMUNICATOR_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "nccl/nccl_abi.h"
#include "nccl/nccl_library.h"

namespace muster {

// Owns one non-blocking NCCL communicator. No thread waits inside NCCL, so an
// abort is always safe.
//
// Every call that starts an operation goes through Do. Do holds the lock only
// during the call itself, which is short because the communicator is
// non-blocking. Do then polls without the lock until NCCL has launched the
// operation. Break may be called from any thread and ends a running Do;
// afterwards, Abort frees the communicator. Thread-safe.
class NcclCommunicator {
 public:
  explicit NcclCommunicator(std::shared_ptr<const nccl::NcclLibrary> nccl)
      : nccl_(std::move(nccl)) {}
  // Aborts the communicator if it has not been closed.
  ~NcclCommunicator() { Abort(); }
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  // Joins the communicator of a new group. `what` names this step in error
  // messages. DeadlineExceeded: not all ranks joined by `deadline`.
  // Unavailable: NCCL failed. FailedPrecondition: NCCL rejected the arguments.
  // Every error breaks the communicator.
  absl::Status Join(const nccl::NcclUniqueId& id, int rank, int size,
                    const std::string& what, Instant deadline);

  // Splits this communicator. Collective over all its ranks: the ranks that
  // pass the same `color` get a new communicator in `*child`, ordered by `key`.
  // A rank that passes kNcclSplitNoColor gets none. Requires can_split.
  absl::Status Split(int color, int key, NcclCommunicator* child,
                     const std::string& what, Instant deadline);

  // Makes one call of NCCL and blocks until NCCL has launched the operation.
  // Does not wait until the operation is complete.
  absl::Status Do(const std::function<nccl::NcclResult(nccl::NcclComm)>& call,
                  const std::string& what, Instant deadline);

  // Checks once whether NCCL has detected an asynchronous error, such as a
  // broken connection.
  absl::Status AsyncError();

  // OK while the communicator is healthy, else the first cause for which it
  // broke.
  absl::Status status() const;

  // Breaks the communicator with `cause`; returns false if it was already
  // broken. A running Do soon returns the cause.
  bool Break(const absl::Status& cause);

  // Replaces the cause of a broken communicator by a more detailed one.
  void Explain(const absl::Status& cause);

  // Frees a healthy communicator once its operations are done. Aborts
  // operations that are not done by `deadline`.
  void Close(Instant deadline);

  // Ends pending operations, including kernels on the device, waits for them,
  // and frees the communicator.
  void Abort();

 private:
  // Waits until NCCL has finished an asynchronous call. `parent`: the
  // communicator from which this one is being split; its failure ends the wait.
  // Null: this communicator is not being split from another one.
  absl::Status AwaitReady(const std::string& what, Instant deadline,
                          const NcclCommunicator* parent = nullptr);
  absl::Status Failed(nccl::NcclResult result, const std::string& what);

  const std::shared_ptr<const nccl::NcclLibrary> nccl_;

  // Held during each call of NCCL, because a communicator allows only one call
  // at a time.
  std::mutex call_mutex_;
  // NCCL's handle of the communicator; guarded by call_mutex_
  nccl::NcclComm comm_ = nullptr;

  mutable std::mutex status_mutex_;
  // OK, or the cause for which the communicator broke; guarded by status_mutex_
  absl::Status status_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_NCCL_COMMUNICATOR_H_
