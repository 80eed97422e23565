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

// Owns one non-blocking NCCL communicator. No thread is inside NCCL while it
// waits, so that an abort is safe.
//
// Every call goes through Do. Do holds the lock only for the call itself, which
// is short because the communicator does not block, and then polls without the
// lock until NCCL has launched the operation. Break, called from any thread,
// ends a running Do; then Abort frees the communicator. Thread-safe.
class NcclCommunicator {
 public:
  explicit NcclCommunicator(std::shared_ptr<const nccl::NcclLibrary> nccl)
      : nccl_(std::move(nccl)) {}
  // Aborts a communicator that is still open.
  ~NcclCommunicator() { Abort(); }
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  // Joins the communicator of a group. `what`: the name of this step in
  // messages. DeadlineExceeded: `deadline` has passed. Unavailable: NCCL
  // failed. Both errors break the communicator.
  absl::Status Join(const nccl::NcclUniqueId& id, int rank, int size,
                    const std::string& what, Instant deadline);

  // Collective over all ranks of this communicator: the ranks that pass the
  // same `color` get a new communicator in `*child`, ordered by `key`. A rank
  // that passes kNcclSplitNoColor gets none. Requires can_split.
  absl::Status Split(int color, int key, NcclCommunicator* child,
                     const std::string& what, Instant deadline);

  // Makes a call and blocks until NCCL has launched the operation, but not
  // until it is complete.
  absl::Status Do(const std::function<nccl::NcclResult(nccl::NcclComm)>& call,
                  const std::string& what, Instant deadline);

  // Checks once whether NCCL has detected an error by itself, such as a broken
  // connection.
  absl::Status AsyncError();

  // OK, or the first cause for which the communicator is broken.
  absl::Status status() const;

  // Breaks the communicator with `cause`; returns false if it was broken
  // before. A running Do returns the cause soon.
  bool Break(const absl::Status& cause);

  // Replaces the cause of a broken communicator by a more detailed one.
  void Explain(const absl::Status& cause);

  // Frees a healthy communicator once its operations are done. Aborts the
  // communicator if they are not done by `deadline`.
  void Close(Instant deadline);

  // Ends pending operations, including kernels on the device, waits for them,
  // and frees the communicator.
  void Abort();

 private:
  // Waits until NCCL has finished a step. If `parent` is not null, the wait
  // ends when the parent breaks.
  absl::Status AwaitReady(const std::string& what, Instant deadline,
                          const NcclCommunicator* parent = nullptr);
  absl::Status Failed(nccl::NcclResult result, const std::string& what);

  const std::shared_ptr<const nccl::NcclLibrary> nccl_;

  // Locked during a call of NCCL.
  std::mutex call_mutex_;
  nccl::NcclComm comm_ = nullptr;  // guarded by call_mutex_

  mutable std::mutex status_mutex_;
  absl::Status status_;  // guarded by status_mutex_
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_NCCL_COMMUNICATOR_H_
