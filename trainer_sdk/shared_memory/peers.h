#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_PEERS_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_PEERS_H_

#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/process_group/transport.h"
#include "trainer_sdk/shared_memory/gathering.h"
#include "trainer_sdk/shared_memory/layout.h"
#include "trainer_sdk/shared_memory/memory_file.h"

namespace muster {

// The cause for which a group is broken: one for all ranks, the first that was
// set.

inline bool IsBroken(const GroupPage& group) {
  return group.broken.load(std::memory_order_acquire) != 0;
}

// Breaks the group with `cause`, which must not be OK, unless it is broken
// already. The caller must wake the sleepers.
void SetCause(GroupPage& group, int rank, const absl::Status& cause);

// The cause of a broken group. Unavailable with the rank's number if the rank
// that broke the group died while it wrote the cause.
absl::Status CauseOf(const GroupPage& group);

using CoreSet = std::bitset<kMaxCores>;

// The cores on which this thread may run.
CoreSet AvailableCores();

// Whether `rank` may spin while it waits. True if the ranks that can run only
// on its cores, itself included, all find a core there. Otherwise a spinning
// rank may delay the rank that it waits for. Pure.
bool MaySpin(const std::vector<CoreSet>& cores_of_ranks, int rank);

// A condition that a rank waits for.
class Wish {
 public:
  virtual ~Wish() = default;
  // Whether it holds. Must be sequentially consistent with the store that makes
  // it true.
  virtual bool Granted() const = 0;
  // The ranks on which it still depends.
  virtual std::vector<int> Absent() const = 0;
  // Text about such a rank for messages: "has not called it".
  virtual std::string Tell(int rank) const = 0;
};

// The operation that a rank waits for (used in error messages), and the
// deadline of the wait.
struct Waiting {
  OperationSignature signature;
  Instant deadline;
};

// The ranks of one group and the memory between them: addresses, liveness,
// waiting, and the group's failure.
//
// Used by one thread at a time, except Abort, broken and cause, which any
// thread may call at any time.
class Peers {
 public:
  // Maps the memory and writes this rank's page. ResourceExhausted: not enough
  // memory.
  static absl::StatusOr<std::unique_ptr<Peers>> Join(const GroupPlace& place,
                                                     Gathered gathered);
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  int rank() const { return rank_; }
  int size() const { return layout_.size(); }
  const Layout& layout() const { return layout_; }

  GroupPage& group() const { return *At<GroupPage>(0); }
  RankPage& page(int rank) const {
    return *At<RankPage>(layout_.rank_page(rank));
  }
  RankPage& own_page() const { return page(rank_); }
  // counts[size] followed by receive_counts[size].
  int64_t* counts(int rank, int parity) const {
    return At<int64_t>(layout_.counts(rank, parity));
  }
  char* slot(int rank, int index) const {
    return At<char>(layout_.staging(rank) + index * layout_.slot_bytes());
  }
  Channel& channel(int from, int to) const {
    return *At<Channel>(layout_.channel(from, to));
  }
  char* ring(int from, int to) const {
    return At<char>(layout_.ring(from, to));
  }
  int memory_fd() const { return memory_.get(); }
  int connection(int index) const { return connections_[index].get(); }

  // Call it once every rank's page is written: decides whether to spin.
  void Meet();
  // Whether some ranks share a core, so that meeting needs a context switch.
  // Equal on every rank.
  bool crowded() const { return crowded_; }

  // "rank 2 (pid 4711 on node-b)".
  std::string Who(int rank) const;

  // Blocks until the wish is granted, first by spinning and then by sleeping.
  // Otherwise returns the cause for which the group is broken; this call breaks
  // it if a rank has left or died or the deadline passes.
  absl::Status Await(const Wish& wish, Bell& bell, const Waiting& waiting);

  // For a caller that waits for ranks `awaited` by other means: OK, or the
  // cause for which the group is broken. Breaks the group if one of these ranks
  // has left or died.
  absl::Status Look(const std::vector<int>& awaited, const Waiting& waiting);

  bool broken() const { return IsBroken(group()); }
  absl::Status cause() const { return CauseOf(group()); }
  // Breaks the group unless it is broken. Returns the group's cause, which may
  // be an earlier one.
  absl::Status Break(const absl::Status& cause);
  void Abort(const std::string& reason);

 private:
  Peers(const GroupPlace& place, Gathered gathered, Mapping mapping);

  template <class T>
  T* At(int64_t offset) const {
    return reinterpret_cast<T*>(mapping_.data() + offset);
  }
  bool Spin(const Wish& wish);
  // "" while all of `ranks` live.
  std::string TellGone(const std::vector<int>& ranks) const;
  std::string TellLeft(const std::vector<int>& ranks) const;
  absl::Status BreakForDeadline(const Wish& wish, const Waiting& waiting);
  absl::Status BreakForLoss(const std::string& lost, const Waiting& waiting);
  void RingAll();

  const int rank_;
  const Layout layout_;
  OwnedFd memory_;
  Mapping mapping_;
  LifeSign own_life_;
  std::vector<OwnedFd> lives_;
  std::vector<OwnedFd> connections_;
  bool crowded_ = true;
  int max_spins_ = 0;
  int spins_ = 0;  // adapted by Spin
  int yields_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_PEERS_H_
