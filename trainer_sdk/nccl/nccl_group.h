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

// One rank's part of one group: its communicator, its operations under way and
// who watches them. Shared by the transport, its watching thread and the
// memory that it gave out, since each may outlive the others. Thread-safe.
class NcclGroup {
 public:
  // Loads the libraries and takes the device; no peer is talked to.
  static absl::StatusOr<std::shared_ptr<NcclGroup>> Open(GroupPlace place,
                                                         NcclOptions options);
  ~NcclGroup();

  // Joins the group's communicator, or makes it of `parent`'s, which breaks
  // where that fails.
  absl::Status Join(Instant deadline);
  absl::Status JoinBySplit(NcclGroup& parent, int color, int key,
                           Instant deadline);
  // This rank takes part in a split of this group, but is in none of the parts;
  // `formation`: the split's, or null.
  absl::Status StandAside(const std::shared_ptr<Formation>& formation,
                          Instant deadline);

  absl::Status Execute(const Operation& operation,
                       const OperationContext& context);

  // Joining has failed: tells the peers, too.
  void GiveUp(const absl::Status& cause);

  // Breaks the group; the watching thread does what follows from it.
  void Break(const absl::Status& cause);

  // The watching thread's whole life; it ends soon after Close.
  void Watch();
  // Has the watching thread free the communicator, and waits for that until
  // the time to close is over; whether it ended.
  enum class Ended { kYes, kNotInTime };
  Ended Close();

  struct Memory {
    void* data = nullptr;
    bool is_nccls = false;  // else the driver's
    void* registration = nullptr;
  };
  absl::StatusOr<Memory> Allocate(int64_t bytes, Instant deadline);
  // What Allocate gave.
  void Release(const Memory& memory);

  absl::Status status() const { return communicator_.status(); }
  const NcclLibrary& nccl() const { return *nccl_; }
  const NcclOptions& options() const { return options_; }

 private:
  NcclGroup(GroupPlace place, NcclOptions options,
            std::shared_ptr<const NcclLibrary> nccl,
            std::shared_ptr<const CudaDriver> cuda, CudaContext context);

  std::string What(const char* step) const;
  absl::Status TakeBarrierCell();
  absl::Status WaitFor(uint64_t number);
  // This rank's share in a split of this group's communicator.
  absl::Status Split(int color, int key, NcclCommunicator* part,
                     const std::string& what,
                     const std::shared_ptr<Formation>& formation,
                     Instant deadline);
  // The same, with what the ranks have called that is not done (`current`,
  // here), if `cause` is that an operation is late. Waits for their accounts,
  // and for the store, for a bounded time.
  absl::Status Explained(
      const absl::Status& cause,
      const std::optional<OperationSignature>& current) const;
  // The cause with its explanation, which comes after the abort; as it is where
  // that takes too long.
  absl::Status ExplainedCause();
  void Wake();
  // What the ranks do together before anything is on the device: NCCL connects
  // them at the first operation of a kind. The alarm is looked at meanwhile.
  class Launch;
  // Since when this rank has waited for something; nothing where it does not.
  std::optional<Instant> WaitingSince();
  // One turn of the watching thread; whether the group goes on.
  enum class Turn { kGoOn, kBroken };
  Turn LookAround();

  const GroupPlace place_;
  const NcclOptions options_;
  const std::shared_ptr<const NcclLibrary> nccl_;
  const std::shared_ptr<const CudaDriver> cuda_;
  CudaContext context_;
  NcclCommunicator communicator_;
  StreamWatch watch_;
  void* barrier_cell_ = nullptr;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;  // guarded by mutex_
  bool ended_ = false;    // guarded by mutex_
  bool awake_ = false;    // guarded by mutex_; something is new to be looked at
  int launches_ = 0;      // guarded by mutex_; calls that NCCL has not taken
  Instant launching_since_;  // guarded by mutex_; while there are any
  bool explained_ = false;   // guarded by mutex_
  uint64_t splits_ = 0;      // guarded by mutex_

  GroupAlarm alarm_;  // last: its thread calls Break
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_NCCL_GROUP_H_
