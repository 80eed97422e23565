#ifndef MUSTER_TRAINER_SDK_NCCL_NCCL_GROUP_H_
#define MUSTER_TRAINER_SDK_NCCL_NCCL_GROUP_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nccl/nccl_library.h"
#include "trainer_sdk/nccl/cuda_driver.h"
#include "trainer_sdk/nccl/group_alarm.h"
#include "trainer_sdk/nccl/nccl_communicator.h"
#include "trainer_sdk/nccl/nccl_transport.h"
#include "trainer_sdk/nccl/stream_watch.h"

namespace muster {

// One rank's membership in one NCCL group: its communicator, its pending
// operations and the state of the thread that watches them. The transport, the
// watching thread and allocated memory share ownership of this object, because
// each may outlive the others. Thread-safe.
class NcclGroup {
 public:
  // Loads NCCL and the CUDA driver, and selects the GPU. Does not communicate
  // with other ranks.
  static absl::StatusOr<std::shared_ptr<NcclGroup>> Open(GroupPlace place,
                                                         NcclOptions options);
  ~NcclGroup();

  // Join creates the group's communicator together with the other ranks;
  // JoinBySplit creates it by a split of the communicator of `parent`, in which
  // all ranks of `parent` take part. If the split fails, `parent` breaks.
  absl::Status Join(Instant deadline);
  absl::Status JoinBySplit(NcclGroup& parent, int color, int key,
                           Instant deadline);
  // Takes part in a split of this group on a rank that belongs to none of the
  // new groups. `formation`: the creation of the new groups, which reports the
  // failure of any rank; may be null.
  absl::Status SplitWithoutNewGroup(const std::shared_ptr<Formation>& formation,
                                    Instant deadline);

  absl::Status Execute(const Operation& operation,
                       const OperationContext& context);

  // Breaks the group after a failed join, and reports the failure to the peers.
  void GiveUp(const absl::Status& cause);

  // Breaks the group. The watching thread then aborts the communicator.
  void Break(const absl::Status& cause);

  // The main function of the watching thread. It returns soon after Close is
  // called.
  void Watch();
  // The result of Close: whether the communicator was freed within
  // options().close_timeout.
  enum class Ended { kYes, kNotInTime };
  // Makes the watching thread free the communicator, and waits at most
  // options().close_timeout until this is done.
  Ended Close();

  struct Memory {
    void* data = nullptr;
    // whether the memory was allocated by NCCL; if not, by the CUDA driver
    bool is_nccls = false;
    void* registration = nullptr;
  };
  absl::StatusOr<Memory> Allocate(int64_t bytes, Instant deadline);
  // Frees memory that Allocate returned.
  void Release(const Memory& memory);

  absl::Status status() const { return communicator_.status(); }
  const nccl::NcclLibrary& nccl() const { return *nccl_; }
  const NcclOptions& options() const { return options_; }

 private:
  NcclGroup(GroupPlace place, NcclOptions options,
            std::shared_ptr<const nccl::NcclLibrary> nccl,
            std::shared_ptr<const CudaDriver> cuda, CudaContext context);

  std::string What(const char* step) const;
  absl::Status TakeBarrierCell();
  absl::Status WaitFor(uint64_t number);
  // Takes part in a split of this group's communicator; `part` receives the new
  // communicator.
  absl::Status Split(int color, int key, NcclCommunicator* part,
                     const std::string& what,
                     const std::shared_ptr<Formation>& formation,
                     Instant deadline);
  // If `cause` says that an operation is late, returns `cause` with a
  // comparison of the ranks' unfinished operations added
  // (CompareLastOperations). Waits for a limited time until the peers have
  // published their operations in the store. `current` is this rank's
  // unfinished operation.
  absl::Status Explained(
      const absl::Status& cause,
      const std::optional<OperationSignature>& current) const;
  // Returns the cause for which the group is broken. After the abort, the
  // watching thread adds a comparison of the ranks' unfinished operations to
  // the cause's message (see Explained). Waits for the comparison for a limited
  // time; after that, returns the cause without it.
  absl::Status ExplainedCause();
  void Wake();
  // Marks, while this object lives, that the launch of an operation is in
  // progress. A launch may wait for other ranks, because NCCL connects the
  // ranks at the first operation of a kind. So the watching thread must poll
  // `alarm_` during the launch, to learn of failures of the peers.
  class Launch;
  // The time since which this rank has been waiting for peers; nullopt if it is
  // not waiting.
  std::optional<Instant> WaitingSince();
  // The result of LookAround, one iteration of the watching thread: whether the
  // group is still intact.
  enum class Turn { kGoOn, kBroken };
  Turn LookAround();

  const GroupPlace place_;
  const NcclOptions options_;
  const std::shared_ptr<const nccl::NcclLibrary> nccl_;
  const std::shared_ptr<const CudaDriver> cuda_;
  CudaContext context_;
  NcclCommunicator communicator_;
  StreamWatch watch_;
  void* barrier_cell_ = nullptr;

  std::mutex mutex_;
  std::condition_variable changed_;
  // whether Close was called; guarded by mutex_
  bool closing_ = false;
  // whether Watch has freed the communicator; guarded by mutex_
  bool ended_ = false;
  // whether the watching thread was woken and must run its next iteration
  // immediately; guarded by mutex_
  bool awake_ = false;
  // number of calls that NCCL has not launched yet; guarded by mutex_
  int launches_ = 0;
  // time since which at least one call waits until NCCL has launched it
  // (launches_ > 0); guarded by mutex_
  Instant launching_since_;
  // whether the cause for which the group broke has its detailed message (see
  // ExplainedCause); guarded by mutex_
  bool explained_ = false;
  uint64_t splits_ = 0;  // number of splits begun; guarded by mutex_

  // declared last, so that it is destroyed first: its thread calls Break, which
  // uses other members
  GroupAlarm alarm_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_NCCL_GROUP_H_
