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

// This node among the others of a check.
struct NodePlace {
  int rank = 0;
  int nodes = 1;
  // At which the others reach this one.
  std::string address;
  // How long the slowest node may take to look at itself, and how long a
  // connection between two.
  Duration patience = std::chrono::seconds(60);
  Duration connect_patience = std::chrono::seconds(5);
};

// Tells the others, through the store that all share, what this node found,
// tries to reach them, and tells that, too. Rank 0 returns what all have told,
// by rank; the others nothing, once they have told it.
absl::StatusOr<std::vector<NodeSeen>> ExchangeReports(const NodePlace& place,
                                                      const NodeReport& report,
                                                      Store& store);

// Rank 0 tells the exit code for all; the others learn it.
absl::StatusOr<int> AgreeOnExitCode(const NodePlace& place, int own,
                                    Store& store);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_NODE_EXCHANGE_H_
