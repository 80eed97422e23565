#include "agent/health/check_health.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "agent/health/examine_node.h"
#include "agent/health/read_node.h"
#include "agent/health/read_surroundings.h"
#include "base/monotonic_clock.h"

namespace muster::agent {
namespace {

void Add(const std::vector<Finding>& part, std::vector<Finding>& findings) {
  findings.insert(findings.end(), part.begin(), part.end());
}

void CheckGpus(const HealthScope& scope, Instant deadline,
               std::vector<Finding>& findings) {
  NodeFacts facts;
  facts.gpus = ReadGpusBy(deadline, scope.nvml_library);
  facts.surroundings = ReadSurroundings(scope.root, {});
  Add(ExamineVersions(facts), findings);
  Add(ExamineVisibleGpus(scope.visible_gpus, facts.gpus), findings);
  const GpuFacts visible = OnlyVisible(scope.visible_gpus, facts.gpus);
  // No GPU is left to examine, because none of the GPUs that
  // CUDA_VISIBLE_DEVICES names exists. ExamineVisibleGpus has reported this
  // already.
  if (visible.devices.empty() && !facts.gpus.devices.empty()) return;
  Add(ExamineGpus(visible, facts.surroundings), findings);
  const int named = NamedGpus(scope.visible_gpus);
  Add(ExamineGpuCount(std::max(scope.gpus_needed, named), visible), findings);
}

void CheckDisks(const HealthScope& scope, Instant deadline,
                std::vector<Finding>& findings) {
  std::vector<FolderFacts> folders;
  for (const std::string& folder : scope.folders) {
    if (folder.empty()) continue;
    folders.push_back(ReadFolder("used by the job", folder, deadline));
  }
  Add(ExamineDisks(folders), findings);
}

// Returns an error with the first finding of severity kError that belongs to
// `check`; OK if there is none.
absl::Status StatusOfFindings(const std::string& check,
                              const std::vector<Finding>& findings) {
  std::vector<const Finding*> wrong;
  for (const Finding& finding : findings) {
    const FindingKind* kind = KindOf(finding.id);
    if (kind != nullptr && check == kind->check &&
        finding.severity == Severity::kError) {
      wrong.push_back(&finding);
    }
  }
  if (wrong.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(check, ": ", wrong[0]->what,
                   wrong.size() > 1 ? absl::StrCat(" (and ", wrong.size() - 1,
                                                   " more; see launch doctor)")
                                    : ""));
}

}  // namespace

absl::Status CheckHealth(const std::vector<std::string>& checks,
                         const HealthScope& scope) {
  const Instant deadline = MonotonicNow() + scope.timeout;
  for (const std::string& check : checks) {
    std::vector<Finding> findings;
    if (check == "gpu") {
      CheckGpus(scope, deadline, findings);
    } else if (check == "disk") {
      CheckDisks(scope, deadline, findings);
    } else if (check == "memory") {
      Add(ExamineMemory(ReadHost(scope.root)), findings);
    } else if (check == "shm") {
      Add(ExamineSharedMemory(
              ReadFolder("shared memory", scope.root + "/dev/shm", deadline)),
          findings);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat(check, " is no check of a node"));
    }
    absl::Status status = StatusOfFindings(check, findings);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace muster::agent
