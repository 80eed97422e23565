#ifndef MUSTER_LAUNCHER_ADMIN_REQUEST_H_
#define MUSTER_LAUNCHER_ADMIN_REQUEST_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/subcommands.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/protocol/inquiry.h"
#include "rendezvous/tls/tls_files.h"

namespace muster::launcher {

enum class AdminHelpAsked { kNo, kYes };
enum class AdminFormat { kText, kJson };

// The parsed command line of
// `launch status|watch|top|cancel|drain|nodes|logs|stacks`.
struct AdminRequest {
  SubcommandId verb = SubcommandId::kStatus;
  // kYes: the help text is wanted; the fields below are not set.
  AdminHelpAsked help = AdminHelpAsked::kNo;
  // Possible endpoints of the coordinator. May be empty only if `slurm_job` is
  // given.
  std::vector<rendezvous::Endpoint> endpoints;
  // The Slurm job that runs the coordinator: the endpoint is computed from
  // squeue's output. Empty: `endpoints` are used.
  std::string slurm_job;
  // Number of the step of `slurm_job` in which this process runs; nullopt: this
  // process is in no step of that job.
  std::optional<uint64_t> slurm_step;
  // The arguments of `launch` from the subcommand's name on. Needed for a Slurm
  // job, for which srun may run the same subcommand on the coordinator's host.
  std::vector<std::string> args;
  std::string run_id;  // the job's run id; empty: the coordinator's only job
  std::string token_file;
  rendezvous::TlsFiles tls;
  AdminFormat format = AdminFormat::kText;
  // for kDrain, kLogs and kStacks: a node id or host name; empty: all nodes
  std::string node;
  // For kNodes. `free`: the host whose faults are declared void and whose ban
  // is lifted; `ban`: the host to be banned; `reason`: why it is banned. Empty:
  // not requested.
  std::string free;
  std::string ban;
  std::string reason;
  // For kLogs and kStacks: what each node is asked for. Its `id` is not set,
  // because each node later gets a random number of its own.
  rendezvous::Inquiry question;
};

// Parses `args`: the subcommand, one with SubcommandFlags::kAdmin, and its
// arguments. Pure. InvalidArgument: the message is one line.
absl::StatusOr<AdminRequest> ParseAdminRequest(
    const std::vector<std::string>& args,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_ADMIN_REQUEST_H_
