#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_TESTING_FORKED_RANKS_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_TESTING_FORKED_RANKS_H_

#include <sys/types.h>

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Runs the ranks of one group as child processes, with another child that
// serves their store. The destructor kills all children. The calling process
// should have no other threads.
class ForkedRanks {
 public:
  // Runs `body` in one child process per rank. The result of `body` is the
  // rank's status.
  ForkedRanks(int size,
              const std::function<absl::Status(const GroupPlace& place)>& body);
  ~ForkedRanks();
  ForkedRanks(const ForkedRanks&) = delete;
  ForkedRanks& operator=(const ForkedRanks&) = delete;

  pid_t pid(int rank) const { return ranks_[rank].pid; }
  void Kill(int rank);

  // WaitFor returns the status that `body` returned on `rank`; Wait returns the
  // status of each rank, indexed by rank. Cancelled: the rank was killed.
  // DeadlineExceeded: the rank is still running at `deadline`.
  absl::Status WaitFor(int rank, Instant deadline) const;
  std::vector<absl::Status> Wait(Instant deadline) const;

 private:
  struct Rank {
    pid_t pid = 0;
    OwnedFd life;    // a pidfd of the child
    OwnedFd result;  // pipe that carries the rank's status
  };

  pid_t server_ = 0;
  int port_ = 0;  // port of the store's server
  std::vector<Rank> ranks_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_TESTING_FORKED_RANKS_H_
