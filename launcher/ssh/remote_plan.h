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

// What the plan needs to know of this process besides the options.
struct FrontFacts {
  std::string launch;  // path of this program
  std::string version;
  std::string working_directory;
  std::map<std::string, std::string> environment;  // what travels
  std::string token;                               // the job's, given
  std::string fresh_token;  // random, for a job without one
};

// When the agents of a job are started.
enum class Beginning {
  kWithEnough,         // as soon as so many hosts as it needs are there
  kWithAllThatAnswer,  // once every host is there or has failed; then those
                       // that are there are all that the job waits for, and
                       // of the others RemoteEnd tells
};

// Which hosts a job starts on, and what each is told.
struct RemotePlan {
  BeNode node;    // with all hosts, in rank order
  int least = 1;  // that many must be there
  int most = 1;   // so many take part; the hosts beyond are spares
  Beginning beginning = Beginning::kWithEnough;
  bool alone = false;  // one host, and never another: nobody is met
  // Where the person said that the nodes meet; nullopt: at the first host.
  std::optional<rendezvous::Endpoint> endpoint;
  int port = 0;  // of the first host's coordinator; 0: a free one
  std::string coordinator_address;  // --master-addr; empty: found out
  std::string rendezvous_conf;      // --rdzv-conf, with what ssh adds
  // How long the coordinator waits for a lost node before the job ends; none:
  // the coordinator is not the job's own, and others may come to it.
  std::optional<Duration> rejoin_timeout;
  std::vector<int> stop_signals;  // agents stop the job on these
};

// The plan of `--hostfile`: pure. `hosts` are already filtered.
//
// Fixed --nnodes N: the first N hosts. MIN:MAX: all hosts, of which those
// beyond MAX are spares. Not given: every host. --nproc-per-node wins over
// slots.
//
// InvalidArgument, one line: options that do not go together, too few hosts.
absl::StatusOr<RemotePlan> PlanRemote(const RunOptions& options,
                                      std::vector<Host> hosts,
                                      const FrontFacts& facts);

// The flags by which the agent that hosts the coordinator at `address`, and
// those that look for it at `endpoint`, find each other.
std::vector<std::string> HostingFlags(const RemotePlan& plan,
                                      const std::string& address);
std::vector<std::string> MeetingFlags(const RemotePlan& plan,
                                      const rendezvous::Endpoint& endpoint);

// At which address the others reach a host that ssh reached: that one, unless
// it means another machine to each of them; then the outward one.
std::string AddressForOthers(const RemotePlan& plan, const HostUp& host);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_REMOTE_PLAN_H_
