#ifndef MUSTER_AGENT_PROGRESS_PROGRESS_SOCKETS_H_
#define MUSTER_AGENT_PROGRESS_PROGRESS_SOCKETS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/progress/progress_message.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster::agent {

// The datagram sockets at which the workers of a round speak (the variable
// MUSTER_PROGRESS_SOCKET): one each, so that a worker's rank is known by its
// socket, in a folder that only this user can enter. A new round has new ones:
// what an old one's workers have left unsaid is gone with theirs.
//
// A worker that sends more than its share is read more slowly, and then waits
// in its own send(2); the others and this process do not notice. Not
// thread-safe.
class ProgressSockets {
 public:
  // A worker may send so many datagrams at once, and then so many a second
  // where it is alone; of many workers each has its part.
  static constexpr double kBurst = 256;
  static constexpr double kPerSecond = 16000;
  static constexpr double kLeastPerSecond = 100;

  // `folder`: where the private folder is made; one whose name would leave no
  // room for a socket's (108 bytes in all) is replaced by /tmp.
  explicit ProgressSockets(std::string folder);
  ~ProgressSockets();
  ProgressSockets(const ProgressSockets&) = delete;
  ProgressSockets& operator=(const ProgressSockets&) = delete;

  // Closes the last round's and opens new ones. On an error (the folder cannot
  // be made, no descriptor is left) there is none: workers run without.
  absl::Status Open(Instant now, int round, int workers);

  // The folder of them all, which this removes at its end; empty until Open has
  // made it.
  const std::string& folder() const { return folder_; }

  // Empty where there is none.
  std::string PathOf(int local_rank) const;

  // Readable (poll) while Take has something.
  int fd() const { return epoll_.get(); }
  // When Take must be called at the latest, even if fd() stays quiet.
  std::optional<Instant> NextTake() const;

  // Those that said something, by local rank, each with all that it said since
  // the last Take. Bounded; does not block.
  std::vector<WorkerSaid> Take(Instant now);

 private:
  struct Line {
    OwnedFd socket;
    std::string path;
    double allowance = kBurst;  // datagrams that may be read
    Instant counted;            // up to when it has been added to
    bool paused = false;        // not in epoll_, until it has an allowance
  };
  absl::Status MakeFolder();
  absl::Status OpenOne(Instant now, int round, int local_rank);
  void Close();
  void Refill(Instant now, Line& line) const;
  void Watch(int local_rank);
  // False if there was nothing.
  bool Read(Line& line, ProgressMessage& message);

  const std::string parent_;
  std::string folder_;  // once made
  const OwnedFd epoll_;
  double per_second_ = kPerSecond;
  std::vector<Line> lines_;  // by local rank
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PROGRESS_PROGRESS_SOCKETS_H_
