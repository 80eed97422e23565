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

namespace muster::launcher {

enum class DoctorFormat { kText, kJson };

// The command line of `launch doctor`, read.
struct DoctorRequest {
  enum class Way {
    kHelp,
    kHere,      // this node alone
    kAllNodes,  // as a job of launch's, a worker on each node
    kAsNode,    // such a worker
  };
  Way way = Way::kHere;
  DoctorFormat format = DoctorFormat::kText;
  Detail detail = Detail::kAll;
  std::optional<rendezvous::Endpoint> coordinator;
  std::string token_file;
  std::string log_dir;
  std::vector<std::string> folders;           // more of them
  std::vector<std::string> launch_arguments;  // kAllNodes: for the job
  // kAsNode:
  std::string outcome_file;      // empty: the page goes to stdout, in lines
  TextTarget target;             // whose page it is
  int expected = 0;              // nodes; 0: not known here
  std::optional<int> node_rank;  // of this node, as somebody gave it
};

// Its flags, and with those of a run, which --nodes takes, too.
std::vector<Flag> DoctorFlags();
std::vector<Flag> DoctorAndRunFlags();

std::string DoctorHelp();

// Reads the arguments behind "doctor". Pure. InvalidArgument: one line.
absl::StatusOr<DoctorRequest> ParseDoctorRequest(
    const std::vector<std::string>& arguments,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_DOCTOR_REQUEST_H_
