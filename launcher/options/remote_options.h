#ifndef MUSTER_LAUNCHER_OPTIONS_REMOTE_OPTIONS_H_
#define MUSTER_LAUNCHER_OPTIONS_REMOTE_OPTIONS_H_

#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "launcher/options/defaults.h"
#include "launcher/options/flag_values.h"

namespace muster::launcher {

// Whether this `launch` starts the job's agents on other nodes, and how.
enum class RemoteStart { kNone, kSlurm, kHostFile };

struct RemoteOptions {
  RemoteStart start = RemoteStart::kNone;
  std::string host_file;
  std::string include;  // DeepSpeed's syntax, not yet read
  std::string exclude;
  std::vector<std::string> exports;  // NAME, PREFIX* or NAME=VALUE
  std::string ssh_args;
  Duration ssh_timeout = std::chrono::seconds(30);
  int ssh_fan_out = 32;  // hosts that one machine starts itself
  // Every flag that the command line, PET_ variables, a file or a cluster gave,
  // with the text that holds: what a command line for another node is made of.
  std::map<std::string, std::string> given;
  // Of an agent that another `launch` started: descriptors at which it says the
  // port of the coordinator that it hosts, and the verdict, which otherwise
  // goes to stderr; -1: none.
  int endpoint_fd = -1;
  int verdict_fd = -1;
  // Likewise: its starter shows its words among those of others.
  agent::Telling telling = agent::Telling::kAlone;
};

// Reads the flags of FlagGroup::kRemote; errors go to `values`.
RemoteOptions ReadRemoteOptions(FlagValues& values);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_REMOTE_OPTIONS_H_
