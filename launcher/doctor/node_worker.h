#ifndef MUSTER_LAUNCHER_DOCTOR_NODE_WORKER_H_
#define MUSTER_LAUNCHER_DOCTOR_NODE_WORKER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "launcher/doctor/compare_nodes.h"
#include "launcher/doctor/doctor_request.h"
#include "launcher/doctor/node_report.h"
#include "trainer_sdk/store/store.h"

namespace muster::launcher {

// The rank and address of this node among the nodes that `launch doctor
// --nodes` checks.
struct NodePlace {
  int rank = 0;
  int nodes = 1;
  // The address at which the other nodes reach this node.
  std::string address;
  // timeout: time limit for the slowest node to send its report.
  // connect_timeout: time limit for one connection between two nodes.
  Duration timeout = std::chrono::seconds(60);
  Duration connect_timeout = std::chrono::seconds(5);
};

// Exchanges reports through the job's store. Stores this node's report, probes
// other nodes and stores the results. On rank 0, returns the reports and probe
// results of all nodes, by rank. On other ranks, waits until rank 0 has
// finished and returns an empty list.
absl::StatusOr<std::vector<NodeSeen>> ExchangeReports(const NodePlace& place,
                                                      const NodeReport& report,
                                                      Store& store);

// Rank 0 writes the exit code `own` to the job's store. The other ranks wait
// for this exit code and return it.
absl::StatusOr<int> AgreeOnExitCode(const NodePlace& place, int own,
                                    Store& store);

// Runs one worker of the job that `launch doctor --nodes` starts. The worker
// checks its own node. Together with the other workers it checks the
// connections between the nodes. Rank 0 writes the page to
// request.outcome_file, which the `launch` on its node reads. If the file name
// is empty, rank 0 prints the page, encoded by OutcomeLines, for a `launch` on
// another machine.
absl::StatusOr<int> RunAsNode(
    const DoctorRequest& request,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_NODE_WORKER_H_
