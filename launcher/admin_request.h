#ifndef MUSTER_LAUNCHER_ADMIN_REQUEST_H_
#define MUSTER_LAUNCHER_ADMIN_REQUEST_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::launcher {

enum class AdminVerb { kHelp, kStatus, kWatch, kCancel, kDrain };
enum class AdminFormat { kText, kJson };

// What `launch status|watch|cancel|drain` was asked.
struct AdminRequest {
  AdminVerb verb = AdminVerb::kStatus;
  rendezvous::Endpoint endpoint;
  // Not empty: this job of Slurm's has the coordinator, and Slurm is to be
  // asked for the endpoint.
  std::string slurm_job;
  std::optional<uint64_t> slurm_step;  // of that job, and this process is in it
  std::string run_id;                  // empty: the coordinator's only job
  std::string token_file;
  AdminFormat format = AdminFormat::kText;
  std::string node;  // kDrain
};

// `args`: the sub-command and what follows. Pure. InvalidArgument, one line.
absl::StatusOr<AdminRequest> ParseAdminRequest(
    const std::vector<std::string>& args,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_ADMIN_REQUEST_H_
