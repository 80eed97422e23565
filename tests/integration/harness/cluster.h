#ifndef MUSTER_TESTS_INTEGRATION_HARNESS_CLUSTER_H_
#define MUSTER_TESTS_INTEGRATION_HARNESS_CLUSTER_H_

#include <memory>
#include <string>
#include <vector>

#include "tests/integration/harness/subprocess.h"

namespace muster {

// Paths of the binaries, relative to a test's working directory.
inline constexpr char kLaunch[] = "launcher/launch";
inline constexpr char kDaemon[] = "rendezvous/daemon/rendezvousd";
inline constexpr char kWorker[] = "tests/integration/worker.sh";

// Returns `flags` with the additional setting mixed_nodes=1 of --rdzv-conf: the
// nodes of a job may then have different worker commands.
std::vector<std::string> WithMixedNodes(std::vector<std::string> flags);

// A real rendezvousd on a free port. The nodes that join it are real launches
// on this machine.
class LocalCluster {
 public:
  // `worker`: the program that every node runs. `daemon_flags`: additional
  // flags of rendezvousd.
  explicit LocalCluster(std::string worker = kWorker,
                        std::vector<std::string> daemon_flags = {});

  const std::string& endpoint() const { return endpoint_; }
  Subprocess& daemon() { return *daemon_; }
  // Kills the daemon and starts it again with the same flags and port.
  void RestartDaemon();

  // Adds a second endpoint to the flags of all nodes and commands that this
  // object starts from now on. Nothing listens at the second endpoint before
  // FailOver. Called at most once.
  void AddStandby();
  // Kills the daemon and starts it again, with the same flags, at the second
  // endpoint that AddStandby has added.
  void FailOver();

  // Starts one node: `launch` with `flags`. `deed`: arguments of the test
  // worker, which say what the worker does. The nodes of a job may have
  // different `deed`.
  std::unique_ptr<Subprocess> Node(std::vector<std::string> flags,
                                   std::vector<std::string> deed);

  // Runs a sub-command of launch (status, cancel, drain) until it exits.
  std::unique_ptr<Subprocess> Command(std::vector<std::string> words);

 private:
  void KillDaemon();
  void StartDaemon(const std::string& listen);

  const std::string worker_;
  const std::vector<std::string> daemon_flags_;
  std::unique_ptr<Subprocess> daemon_;
  std::string endpoint_;
  // second endpoint of the daemon (AddStandby); empty: none
  std::string standby_;

  std::string given_endpoints_;  // value of --rdzv-endpoint and --endpoint
};

// Runs `launch --standalone` with `flags` and the test worker.
std::unique_ptr<Subprocess> Standalone(std::vector<std::string> flags,
                                       std::vector<std::string> deed);

// Returns the pids that the workers of `round` have printed, from the output of
// `node`.
std::vector<pid_t> WorkerPids(Subprocess& node, int round);

}  // namespace muster

#endif  // MUSTER_TESTS_INTEGRATION_HARNESS_CLUSTER_H_
