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

// The datagram sockets on which the workers of a round report progress
// (variable MUSTER_PROGRESS_SOCKET). Each worker has its own socket, which
// identifies its rank. The sockets are in a folder that only this user can
// enter. Each round has new sockets; unread reports of an old round are
// dropped.
//
// The agent reads each socket at a limited rate. A worker that sends faster
// blocks in its own send(2); other workers and the agent are not affected. Not
// thread-safe.
class ProgressSockets {
 public:
  // Limits of the rate at which the agent reads the workers' datagrams. Each
  // worker may send a burst of kBurst datagrams. All workers together may send
  // kPerSecond datagrams per second, which they share equally; each worker may
  // send at least kLeastPerSecond.
  static constexpr double kBurst = 256;
  static constexpr double kPerSecond = 16000;
  static constexpr double kLeastPerSecond = 100;

  // `folder` is the parent of the private folder. If `folder` is empty, or so
  // long that a socket's path would not fit into sockaddr_un, /tmp is used
  // instead.
  explicit ProgressSockets(std::string folder);
  ~ProgressSockets();
  ProgressSockets(const ProgressSockets&) = delete;
  ProgressSockets& operator=(const ProgressSockets&) = delete;

  // Closes the sockets of the last round and opens new ones. After an error (no
  // folder, no free descriptor) there are no sockets, and the workers run
  // without them.
  absl::Status Open(Instant now, int round, int workers);

  // The folder of the sockets, which only this user can enter; the destructor
  // removes it. Empty until Open has made it.
  const std::string& folder() const { return folder_; }

  // The path of a worker's socket; empty if the worker has no socket.
  std::string PathOf(int local_rank) const;

  // A descriptor for poll() that is readable while Take would return something.
  int fd() const { return epoll_.get(); }
  // The time by which Take must be called even if fd() is not readable;
  // nullopt: Take need not be called until fd() is readable.
  std::optional<Instant> NextTake() const;

  // Returns the workers that have reported since the last Take, by local rank,
  // each with its merged reports. Reads a bounded number of datagrams; does not
  // block.
  std::vector<WorkerSaid> Take(Instant now);

 private:
  struct Line {
    OwnedFd socket;
    std::string path;
    // number of datagrams that may be read now under the rate limit
    double allowance = kBurst;
    // time at which `allowance`, the number of datagrams that may be read now,
    // was last increased
    Instant counted;
    // whether the socket is not read now, because the worker has sent more
    // datagrams than the rate limit permits (`allowance` is used up)
    bool paused = false;
  };
  absl::Status MakeFolder();
  absl::Status OpenOne(Instant now, int round, int local_rank);
  void Close();
  void Refill(Instant now, Line& line) const;
  void Watch(int local_rank);
  // Reads one datagram into `message`. Returns false if there was none.
  bool Read(Line& line, ProgressMessage& message);

  const std::string parent_;
  // folder of the sockets, which only this user can enter; empty until Open has
  // made it
  std::string folder_;
  const OwnedFd epoll_;
  double per_second_ = kPerSecond;
  std::vector<Line> lines_;  // sockets of the workers, by local rank
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PROGRESS_PROGRESS_SOCKETS_H_
