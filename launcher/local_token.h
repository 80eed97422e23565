#ifndef MUSTER_LAUNCHER_LOCAL_TOKEN_H_
#define MUSTER_LAUNCHER_LOCAL_TOKEN_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::launcher {

// A local token is a coordinator's token, stored in a file that only its user
// can read. Other processes of this user on this machine, such as `launch
// status` or the agent of another node of the same job, find the token by the
// coordinator's endpoint: the file's name contains the network namespace, the
// address and the port. The file is locked while its coordinator lives, so that
// the file of a killed process can be recognized as stale.

// A file system in memory (tmpfs). A login manager may remove a user's files
// from this folder when the user's last session ends.
inline constexpr char kMemoryFolder[] = "/dev/shm";

// The folders in which a user's folder (base/folder.h) may hold tokens, in
// the order in which a coordinator tries them: /tmp, the user's runtime folder,
// TMPDIR, kMemoryFolder. /tmp is first because XDG_RUNTIME_DIR and TMPDIR may
// differ between a job and the user's login shell.
std::vector<std::string> LocalTokenParents();

class LocalToken {
 public:
  // Stores `token` for the coordinator that listens at `listen`, or that is
  // about to listen there on a fixed port; the port must not be 0. If several
  // processes are about to listen at one address, only one gets the file. Also
  // removes the files of killed processes.
  //   AlreadyExists  another process of this user has the file of `listen`
  //   others         no file can be created; the message says where and why
  static absl::StatusOr<std::unique_ptr<LocalToken>> Keep(
      const rendezvous::Endpoint& listen, const std::string& token,
      const std::vector<std::string>& parents);

  // The destructor removes the token file.
  ~LocalToken();

  LocalToken(const LocalToken&) = delete;
  LocalToken& operator=(const LocalToken&) = delete;

 private:
  LocalToken(std::string path, OwnedFd file);

  const std::string path_;
  const OwnedFd file_;
};

// A coordinator of this user on this machine.
struct LocalCoordinator {
  // The coordinator's own address. A host name may have further addresses, at
  // which another user's program may listen; the token must not reach that
  // program.
  rendezvous::Endpoint endpoint;
  std::string token;
};

// Finds the coordinator that `endpoint` names. It must be running, belong to
// this user, and have a token file in a folder of `parents`. If one of these
// files is for the port of `endpoint`, resolves the host name in `endpoint`,
// which blocks for at most 5 s.
std::optional<LocalCoordinator> FindLocalCoordinator(
    const rendezvous::Endpoint& endpoint,
    const std::vector<std::string>& parents);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_LOCAL_TOKEN_H_
