#ifndef MUSTER_LAUNCHER_DOCTOR_DOCTOR_REQUEST_H_
#define MUSTER_LAUNCHER_DOCTOR_DOCTOR_REQUEST_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/doctor/doctor_text.h"
#include "launcher/options/flag.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/tls/tls_files.h"

namespace muster::launcher {

enum class DoctorFormat { kText, kJson };

// The parsed command line of `launch doctor`.
struct DoctorRequest {
  enum class Way {
    kHelp,
    kHere,      // check this node only
    kAllNodes,  // check all nodes, by a job with one worker on each node
    kAsNode,    // this process is a worker of the job that checks all nodes
  };
  Way way = Way::kHere;
  DoctorFormat format = DoctorFormat::kText;
  Detail detail = Detail::kAll;
  // Endpoints of the coordinator that the doctor asks for its time and for the
  // address of this node. Empty: no coordinator is asked.
  std::vector<rendezvous::Endpoint> coordinator;
  std::string token_file;
  rendezvous::TlsFiles tls;
  std::string log_dir;
  // folders to check in addition to the standard ones
  std::vector<std::string> folders;
  // For kAllNodes only: the arguments of `launch`, which runs one worker of the
  // doctor on each node.
  std::vector<std::string> launch_arguments;
  // The members below are for kAsNode only. outcome_file: the file for the
  // worker's result; empty: stdout, encoded by OutcomeLines.
  std::string outcome_file;
  // width and colours of the terminal on which the page is printed
  TextTarget target;
  int expected = 0;              // number of nodes of the job; 0: unknown
  std::optional<int> node_rank;  // value of --node-rank; nullopt: not given
};

// The flags of `launch doctor`; DoctorAndRunFlags also has the flags of a run,
// for --nodes.
std::vector<Flag> DoctorFlags();
std::vector<Flag> DoctorAndRunFlags();

std::string DoctorHelp();

// Parses the arguments after "doctor". Pure. InvalidArgument: the message is
// one line.
absl::StatusOr<DoctorRequest> ParseDoctorRequest(
    const std::vector<std::string>& arguments,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_DOCTOR_REQUEST_H_
