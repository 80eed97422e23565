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

// What starts the agents of a job, and sees their exit codes.
enum class Cluster {
  kNone,  // people and scripts
  kSlurm,
  kKubernetes,
  kHostFile,  // another `launch`, over ssh
};

// What a cluster's environment or a configuration file says of a run.
struct Defaults {
  std::map<std::string, FlagDefault> flags;  // by flag name
  std::vector<std::string> program;          // where the command line has none
  // Whether this node hosts the coordinator at the endpoint in `flags`, where
  // that is known better than a look at addresses would tell.
  std::optional<bool> is_host;
  agent::Telling telling = agent::Telling::kAlone;
  std::optional<Duration> join_timeout;  // JobSpec::join_timeout
  Cluster cluster = Cluster::kNone;
  // JobSpec::rejoin_timeout, where nothing will start a lost agent again.
  std::optional<Duration> rejoin_timeout;
  // What shows a person why other nodes are missing; one line. Empty: not
  // known.
  std::string absent_hint;
  // What workers find on top of the inherited environment.
  std::map<std::string, std::string> worker_environment;
  std::vector<std::string> remarks;  // one line each, to be said once
};

// Makes the defaults once the command line and PET_ variables are known, which
// win over them. Errors: one line, InvalidArgument.
using DefaultsSource =
    std::function<absl::StatusOr<Defaults>(const FlagValues& given)>;

// Both, where they agree or only one speaks; else what `first` says. Who hosts
// is said of an endpoint: `second` is not heard on it where `first` names one.
Defaults Layered(Defaults first, const Defaults& second);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_DEFAULTS_H_
