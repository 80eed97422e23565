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

// Owns one non-blocking NCCL communicator, and never is inside NCCL while it
// waits: an abort finds nobody there, which is what makes it safe.
//
// Every call goes through Do, which keeps the lock for the call itself, brief
// since the communicator does not block, and polls without it until NCCL has
// done its part. Break comes first to end all that, from any thread; Abort
// then hands the communicator back. Thread-safe.
class NcclCommunicator {
 public:
  explicit NcclCommunicator(std::shared_ptr<const NcclLibrary> nccl)
      : nccl_(std::move(nccl)) {}
  // A communicator that is still there is aborted.
  ~NcclCommunicator() { Abort(); }
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  // Sets out to join a world; `what` is for messages. The deadline's error is
  // DeadlineExceeded, NCCL's own ones Unavailable, and the communicator is
  // broken after each.
  absl::Status Join(const NcclUniqueId& id, int rank, int size,
                    const std::string& what, Instant deadline);

  // Collective over all of this one's ranks: makes `*child` those of them that
  // give the same `color`, ranked by `key`; nothing for kNcclSplitNoColor.
  // Needs can_split.
  absl::Status Split(int color, int key, NcclCommunicator* child,
                     const std::string& what, Instant deadline);

  // Makes a call and waits until NCCL has launched what it asks for, not until
  // that is done.
  absl::Status Do(const std::function<NcclResult(NcclComm)>& call,
                  const std::string& what, Instant deadline);

  // One look at what NCCL found out by itself: a peer's connection broke.
  absl::Status AsyncError();

  // OK, or the first cause for which this is of no use any more.
  absl::Status status() const;

  // Sets that cause; false if there was one. Do returns it soon.
  bool Break(const absl::Status& cause);

  // Says more of that cause, which is there.
  void Explain(const absl::Status& cause);

  // Frees a healthy communicator once its operations are done; aborts where
  // that is not so by `deadline`.
  void Close(Instant deadline);

  // Ends what is under way, kernels on the device included, and frees. Waits
  // for them.
  void Abort();

 private:
  // A part waits no longer than its `parent` is whole; null: it has none.
  absl::Status AwaitReady(const std::string& what, Instant deadline,
                          const NcclCommunicator* parent = nullptr);
  absl::Status Failed(NcclResult result, const std::string& what);

  const std::shared_ptr<const NcclLibrary> nccl_;

  // Held during a call of NCCL's.
  std::mutex call_mutex_;
  NcclComm comm_ = nullptr;  // guarded by call_mutex_

  mutable std::mutex status_mutex_;
  absl::Status status_;  // guarded by status_mutex_
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_NCCL_COMMUNICATOR_H_
