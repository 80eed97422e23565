#ifndef MUSTER_LAUNCHER_SSH_REMOTE_PLAN_H_
#define MUSTER_LAUNCHER_SSH_REMOTE_PLAN_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "launcher/hostfile/host_file.h"
#include "launcher/options/run_options.h"
#include "launcher/ssh/messages.h"

namespace muster::launcher {

// Facts about this process that the plan needs in addition to the options.
struct FrontFacts {
  std::string launch;  // path of this program
  std::string version;
  std::string working_directory;
  // Variables that are sent to the hosts.
  std::map<std::string, std::string> environment;
  std::string token;        // the job's token if the user gave one
  std::string fresh_token;  // a random token, used if the user gave none
  std::string run;          // a random name of this run
};

// The condition for starting the agents of a job.
enum class Beginning {
  kWithEnough,  // The agents start when the minimum number of hosts is up.
  // The agents start when every host is up or has failed. Only the hosts that
  // are up take part, and RemoteEnd lists the other hosts.
  kWithAllThatAnswer,
};

// The hosts on which a job starts, and the settings that are sent to them.
struct RemotePlan {
  // The first message to the hosts, with the settings of their agents. Here,
  // BeNode::hosts has all hosts of the job, in the order of ranks.
  BeNode node;
  int least = 1;  // minimum number of hosts that the job needs
  // Maximum number of hosts that take part. Any further hosts are spares.
  int most = 1;
  Beginning beginning = Beginning::kWithEnough;
  // whether the job has one host and no other host can join
  bool alone = false;
  // Endpoints of the coordinator that the user runs, in the order to try.
  // Empty: the user runs no coordinator, and the first host that is up hosts
  // it.
  std::vector<rendezvous::Endpoint> endpoints;
  int port = 0;  // port of the coordinator on the first host; 0: any free port
  // Value of --master-addr: the address at which the hosts reach the
  // coordinator. Empty: the address that AddressForOthers finds
  // (meeting_flags.h).
  std::string coordinator_address;
  // Value of --rdzv-conf for the agents: the user's settings, followed by
  // rejoin_timeout and mixed_nodes if the plan sets them.
  std::string rendezvous_conf;
  // Time for which the coordinator waits for a lost node before it ends the
  // job. nullopt: the plan does not set this time, because the job has only one
  // host, or because the user gave the coordinator's endpoint. With such an
  // endpoint, nodes that this plan did not start may join the job, and all
  // nodes must have the same settings.
  std::optional<Duration> rejoin_timeout;
  // Whether another agent takes over if the host with the coordinator is lost
  // (--takeover).
  bool is_taken_over = false;
  std::vector<int> stop_signals;  // signals on which agents stop the job
};

// Makes the plan for `--hostfile`. `hosts`: the hosts after --include and
// --exclude were applied. Pure.
//
// With --nnodes=N, the first N hosts take part. With --nnodes=MIN:MAX, the
// first MAX hosts take part, and the hosts after them are spares. Without
// --nnodes, all hosts take part. --nproc-per-node overrides the numbers of
// slots in the host file.
//
// InvalidArgument, one line: contradictory options or too few hosts.
absl::StatusOr<RemotePlan> PlanRemote(const RunOptions& options,
                                      std::vector<Host> hosts,
                                      const FrontFacts& facts);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_REMOTE_PLAN_H_
