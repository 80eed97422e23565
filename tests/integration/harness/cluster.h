#ifndef MUSTER_TESTS_INTEGRATION_HARNESS_CLUSTER_H_
#define MUSTER_TESTS_INTEGRATION_HARNESS_CLUSTER_H_

#include <memory>
#include <string>
#include <vector>

#include "tests/integration/harness/subprocess.h"

namespace muster {

// Where the binaries lie in a test's working directory.
inline constexpr char kLaunch[] = "launcher/launch";
inline constexpr char kDaemon[] = "rendezvous/daemon/rendezvousd";
inline constexpr char kWorker[] = "tests/integration/worker.sh";

// `flags` of `launch` for a node whose worker gets other arguments than those
// of other nodes.
std::vector<std::string> WithMixedNodes(std::vector<std::string> flags);

// A real rendezvousd on a port of its own, and real launches that meet there:
// several "nodes" on one machine.
class LocalCluster {
 public:
  // Its nodes run `worker`.
  explicit LocalCluster(std::string worker = kWorker);

  const std::string& endpoint() const { return endpoint_; }
  Subprocess& daemon() { return *daemon_; }

  // Starts one node: `launch` with `flags` and the test worker that is told
  // `deed`, which need not be the other nodes'. The run id is the test's own.
  std::unique_ptr<Subprocess> Node(std::vector<std::string> flags,
                                   std::vector<std::string> deed);

  // Runs a sub-command of launch (status, cancel, drain) to its end.
  std::unique_ptr<Subprocess> Command(std::vector<std::string> words);

 private:
  const std::string worker_;
  std::unique_ptr<Subprocess> daemon_;
  std::string endpoint_;
};

// `launch --standalone` with `flags` and the test worker.
std::unique_ptr<Subprocess> Standalone(std::vector<std::string> flags,
                                       std::vector<std::string> deed);

// The pids that workers of `round` told on `node`'s output.
std::vector<pid_t> WorkerPids(Subprocess& node, int round);

}  // namespace muster

#endif  // MUSTER_TESTS_INTEGRATION_HARNESS_CLUSTER_H_
