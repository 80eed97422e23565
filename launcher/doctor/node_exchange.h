#ifndef MUSTER_LAUNCHER_DOCTOR_NODE_EXCHANGE_H_
#define MUSTER_LAUNCHER_DOCTOR_NODE_EXCHANGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "launcher/doctor/compare_nodes.h"
#include "launcher/doctor/node_report.h"
#include "trainer_sdk/store/store.h"

namespace muster::launcher {

// This node among the nodes of a check.
struct NodePlace {
  int rank = 0;
  int nodes = 1;
  // The address at which the other nodes reach this one.
  std::string address;
  // Time limits: for the slowest node to send its report, and for one
  // connection between two nodes.
  Duration patience = std::chrono::seconds(60);
  Duration connect_patience = std::chrono::seconds(5);
};

// Exchanges reports through the job's store: stores this node's report, probes
// other nodes and stores the results. Rank 0 returns the reports and probes of
// all nodes, by rank; other ranks return an empty list when rank 0 has
// finished.
absl::StatusOr<std::vector<NodeSeen>> ExchangeReports(const NodePlace& place,
                                                      const NodeReport& report,
                                                      Store& store);

// Rank 0 stores the exit code `own`; the other ranks read and return it.
absl::StatusOr<int> AgreeOnExitCode(const NodePlace& place, int own,
                                    Store& store);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_NODE_EXCHANGE_H_
