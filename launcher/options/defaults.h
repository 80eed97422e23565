#ifndef MUSTER_LAUNCHER_OPTIONS_DEFAULTS_H_
#define MUSTER_LAUNCHER_OPTIONS_DEFAULTS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/lifecycle/agent_policy.h"
#include "base/time.h"
#include "launcher/options/command_line.h"

namespace muster::launcher {

// The system that starts the agents of a job and gets their exit codes.
enum class Cluster {
  kNone,  // people and scripts start the agents
  kSlurm,
  kKubernetes,
  kHostFile,  // another `launch` starts the agents over ssh
};

// The settings of a run that come from a cluster's environment or from a
// configuration file.
struct Defaults {
  std::map<std::string, FlagDefault> flags;  // defaults of flags, by flag name
  // The program to run if the command line names none.
  std::vector<std::string> program;
  // Whether this node hosts the coordinator of the job, at the endpoint that
  // `flags` contains. nullopt: neither the cluster's environment nor the
  // configuration file says this, so ChooseCoordinator decides.
  std::optional<bool> is_host;
  agent::JobMessages job_messages = agent::JobMessages::kAll;
  // time limit for forming the job's first world (JobSpec::join_timeout)
  std::optional<Duration> join_timeout;
  Cluster cluster = Cluster::kNone;
  // Time limit for forming a later world (JobSpec::rejoin_timeout), for a
  // cluster in which no program restarts a lost agent.
  std::optional<Duration> rejoin_timeout;
  // A hint for people how to find out why other nodes are missing, such as a
  // command; one line. Empty: none.
  std::string absent_hint;
  // Variables that are added to the environment of the workers.
  std::map<std::string, std::string> worker_environment;
  std::vector<std::string> remarks;  // notices, one line each, printed once
};

// Function that returns the defaults. `given`: the flags of the command line
// and of PET_ variables, which take precedence over the defaults.
// InvalidArgument: the message is one line.
using DefaultsSource =
    std::function<absl::StatusOr<Defaults>(const FlagValues& given)>;

// Whether the flags give the address at which the nodes of the job meet.
bool IsEndpointGiven(const FlagValues& given);

// Merges two sets of defaults. If both sets have a value for a setting, the
// value in `first` is used. `is_host` belongs to an endpoint: if `first` names
// an endpoint, the `is_host` of `second` is ignored.
Defaults Layered(Defaults first, const Defaults& second);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_DEFAULTS_H_
