#ifndef MUSTER_LAUNCHER_SSH_HOST_PLACE_H_
#define MUSTER_LAUNCHER_SSH_HOST_PLACE_H_

#include <cstdint>
#include <string>

#include "base/owned_fd.h"

namespace muster::launcher {

// Makes sure that at most one process at a time runs an agent on a host.
// `launch` starts a process on the host by ssh. If the connection breaks,
// `launch` connects again and so starts a second process, while the first may
// still run. The second process claims the host. The first process then stops
// its agent and exits. Only after that does the second process start an agent.
//
// The process that may run the agent listens at an abstract Unix socket, whose
// name contains the run's random name. A process that claims the host connects
// to this socket. When the connection ends, the earlier process has exited.
// Processes of other users are ignored.
//
// Not thread-safe; never blocks.
class HostPlace {
 public:
  // `run`: the random name of the run of `launch`. `host`: the host's number.
  HostPlace(const std::string& run, uint32_t host);

  enum class Event {
    kNone,
    // Now this process may run the host's agent. Returned once.
    kTaken,
    // A newer process waits to run the host's agent: this process must stop its
    // agent and exit. Returned once.
    kClaimed,
  };
  // Must be called once after the constructor, and then whenever fd() is
  // readable. If the socket cannot be used, this process may start an agent
  // nevertheless: returns kTaken, although another process may be running an
  // agent on the host.
  Event Serve();

  // The descriptor to poll: when it becomes readable, call Serve. -1: there is
  // nothing to poll for.
  int fd() const;

 private:
  Event Try();

  const std::string name_;
  bool taken_ = false;
  OwnedFd listener_;
  // Until Serve returns kTaken: the connection to the earlier process, which
  // may still run the host's agent. After Serve has returned kClaimed: the
  // connection from the newer process, which claims the host.
  OwnedFd other_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_HOST_PLACE_H_
