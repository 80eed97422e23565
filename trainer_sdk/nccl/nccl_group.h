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

// One rank's part of one group: its communicator, its pending operations and
// the thread that watches them. The transport, the watching thread and
// allocated memory share ownership, because each may outlive the others.
// Thread-safe.
class NcclGroup {
 public:
  // Loads the libraries and opens the device. Does not communicate.
  static absl::StatusOr<std::shared_ptr<NcclGroup>> Open(GroupPlace place,
                                                         NcclOptions options);
  ~NcclGroup();

  // Joins the group's communicator, or splits it from that of `parent`. If the
  // split fails, `parent` breaks.
  absl::Status Join(Instant deadline);
  absl::Status JoinBySplit(NcclGroup& parent, int color, int key,
                           Instant deadline);
  // Takes part in a split of this group whose new groups do not contain this
  // rank. `formation`: the formation of the split, or null.
  absl::Status SplitWithoutNewGroup(const std::shared_ptr<Formation>& formation,
                                    Instant deadline);

  absl::Status Execute(const Operation& operation,
                       const OperationContext& context);

  // Called when joining failed; also reports the failure to the peers.
  void GiveUp(const absl::Status& cause);

  // Breaks the group. The watching thread then aborts the communicator.
  void Break(const absl::Status& cause);

  // The main function of the watching thread; returns soon after Close.
  void Watch();
  // The result of Close: whether the communicator was freed within the close
  // timeout.
  enum class Ended { kYes, kNotInTime };
  // Makes the watching thread free the communicator, and waits until it is
  // freed, for at most the close timeout.
  Ended Close();

  struct Memory {
    void* data = nullptr;
    // whether NCCL allocated the memory; otherwise the driver did
    bool is_nccls = false;
    void* registration = nullptr;
  };
  absl::StatusOr<Memory> Allocate(int64_t bytes, Instant deadline);
  // Frees memory from Allocate.
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
  // This rank's part in a split of this group's communicator.
  absl::Status Split(int color, int key, NcclCommunicator* part,
                     const std::string& what,
                     const std::shared_ptr<Formation>& formation,
                     Instant deadline);
  // If `cause` says that an operation is late, returns `cause` with the
  // unfinished operations of all ranks added. `current`: this rank's unfinished
  // operation. Waits for the peers' accounts and the store for a bounded time.
  absl::Status Explained(
      const absl::Status& cause,
      const std::optional<OperationSignature>& current) const;
  // The cause for which the group is broken, with its explanation. The watching
  // thread adds the explanation after the abort; if that takes too long, the
  // cause is returned without it.
  absl::Status ExplainedCause();
  void Wake();
  // Marks a launch of an operation in progress while it lives. A launch may
  // wait for other ranks, because NCCL connects them at the first operation of
  // a kind; so the alarm is watched meanwhile.
  class Launch;
  // The time since when this rank has been waiting for peers; nullopt if it is
  // not waiting.
  std::optional<Instant> WaitingSince();
  // One iteration of the watching thread; returns whether the group is still
  // intact.
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
  bool closing_ = false;  // guarded by mutex_
  bool ended_ = false;    // guarded by mutex_
  bool awake_ = false;    // guarded by mutex_; wakes the watching thread
  int launches_ = 0;  // guarded by mutex_; calls that NCCL has not launched yet
  Instant launching_since_;  // guarded by mutex_; valid while launches_ > 0
  bool explained_ = false;   // guarded by mutex_
  uint64_t splits_ = 0;      // guarded by mutex_

  GroupAlarm alarm_;  // last, because its thread calls Break
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_NCCL_GROUP_H_
