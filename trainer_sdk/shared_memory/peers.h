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

// IsBroken, SetCause and CauseOf access the cause for which a group is broken.
// All ranks get the same cause: the first one that any rank sets.

inline bool IsBroken(const GroupPage& group) {
  return group.broken.load(std::memory_order_acquire) != 0;
}

// Breaks the group with `cause`, which must not be OK, unless the group is
// broken already. The caller must then wake all sleeping ranks.
void SetCause(GroupPage& group, int rank, const absl::Status& cause);

// The cause for which the group is broken. If the rank that broke the group
// died while it wrote the cause: Unavailable with the number of that rank.
absl::Status CauseOf(const GroupPage& group);

using CoreSet = std::bitset<kMaxCores>;

// The processor cores on which the calling thread may run.
CoreSet AvailableCores();

// Whether `rank` may spin while it waits. Spinning must not occupy a core that
// the awaited rank needs. So the cores of `rank` must be at least as many as
// the ranks, including `rank`, that can run only on these cores.
// `cores_of_ranks`: the cores on which each rank may run, indexed by rank.
// Pure.
bool MaySpin(const std::vector<CoreSet>& cores_of_ranks, int rank);

// A condition for which a rank waits, and which other ranks make true.
class WaitCondition {
 public:
  virtual ~WaitCondition() = default;
  // Whether the condition is true. Must use sequentially consistent loads,
  // because other ranks make the condition true with a sequentially consistent
  // store.
  virtual bool IsTrue() const = 0;
  // The ranks for which this rank still waits: they have not yet done their
  // part to make this condition (IsTrue) true.
  virtual std::vector<int> Absent() const = 0;
  // Describes, for an error message, what an absent rank has not done. Example:
  // "has not called it".
  virtual std::string DescribeAbsent(int rank) const = 0;
};

// The operation that a rank waits for, used in error messages, and the deadline
// of the wait.
struct Waiting {
  OperationSignature signature;
  Instant deadline;
};

// The ranks of one group and the memory that they share. Gives the addresses of
// the memory's parts, waits for other ranks, detects the death of ranks, and
// holds the cause for which the group is broken.
//
// Not thread-safe, except Abort, broken and cause, which any thread may call at
// any time.
class Peers {
 public:
  // Maps the group's shared memory and writes this rank's page of it.
  // ResourceExhausted: not enough memory.
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
  // The address of the counts of the operation in RankPage::calls[parity] of
  // rank `rank`: the array counts[size], followed by receive_counts[size].
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

  // Decides from the cores of all ranks whether this rank spins while it waits.
  // Call it after every rank has written its RankPage, which lists its cores.
  void Meet();
  // Whether some ranks share a core, so that a synchronization of all ranks
  // needs a context switch. Equal on every rank.
  bool crowded() const { return crowded_; }

  // The name of a rank in messages: "rank 2 (pid 4711 on node-b)".
  std::string Who(int rank) const;

  // Blocks until `condition` is true, first spinning and then sleeping at
  // `bell`. Breaks the group if an awaited rank (WaitCondition::Absent) has
  // left or died, or if the deadline passes. Returns the cause if the group is
  // broken.
  absl::Status Await(const WaitCondition& condition, Bell& bell,
                     const Waiting& waiting);

  // Checks the ranks `awaited` once, and breaks the group if one of them has
  // left or died. Returns OK, or the cause for which the group is broken. A
  // caller that waits without Await must call Look repeatedly.
  absl::Status Look(const std::vector<int>& awaited, const Waiting& waiting);

  bool broken() const { return IsBroken(group()); }
  absl::Status cause() const { return CauseOf(group()); }
  // Breaks the group with `cause` unless the group is broken already. Returns
  // the group's cause, which may be an earlier one.
  absl::Status Break(const absl::Status& cause);
  void Abort(const std::string& reason);

 private:
  Peers(const GroupPlace& place, Gathered gathered, Mapping mapping);

  template <class T>
  T* At(int64_t offset) const {
    return reinterpret_cast<T*>(mapping_.data() + offset);
  }
  bool Spin(const WaitCondition& condition);
  // A text that names those of `ranks` that have died; empty if all are
  // running.
  std::string DescribeGone(const std::vector<int>& ranks) const;
  std::string DescribeLeft(const std::vector<int>& ranks) const;
  absl::Status BreakForDeadline(const WaitCondition& condition,
                                const Waiting& waiting);
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
  // the number of iterations for which the next wait spins; Spin adapts it
  int spins_ = 0;
  int yields_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_PEERS_H_
