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

// The ranks of one group as child processes, and the server of their store as
// one more, which die with this object. The process that makes it should have
// no other threads.
class ForkedRanks {
 public:
  // Runs `body` in a child for each rank; its status is what the rank ends
  // with.
  ForkedRanks(int size,
              const std::function<absl::Status(const GroupPlace& place)>& body);
  ~ForkedRanks();
  ForkedRanks(const ForkedRanks&) = delete;
  ForkedRanks& operator=(const ForkedRanks&) = delete;

  pid_t pid(int rank) const { return ranks_[rank].pid; }
  void Kill(int rank);

  // How a rank, or each of them, ended; Cancelled for one that was killed,
  // DeadlineExceeded for one that still runs at `deadline`.
  absl::Status WaitFor(int rank, Instant deadline) const;
  std::vector<absl::Status> Wait(Instant deadline) const;

 private:
  struct Rank {
    pid_t pid = 0;
    OwnedFd life;    // a pidfd
    OwnedFd result;  // a pipe that its status comes through
  };

  pid_t server_ = 0;
  int port_ = 0;  // the server's
  std::vector<Rank> ranks_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_TESTING_FORKED_RANKS_H_
