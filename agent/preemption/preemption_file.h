#ifndef MUSTER_AGENT_PREEMPTION_PREEMPTION_FILE_H_
#define MUSTER_AGENT_PREEMPTION_PREEMPTION_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "rendezvous/protocol/report.h"

namespace muster::agent {

// What MUSTER_PREEMPTION_FILE holds: one line of JSON with the signal's name,
// the host where it came, and the seconds of grace that were left then. Pure.
//
//   {"signal":"SIGUSR1","host":"n1","grace_s":118.5}
std::string PreemptionLine(const rendezvous::PreemptionNotice& notice);

// The file by which a node's workers learn that the job is being preempted. It
// is there once the notice has come, whole; it goes with this.
class PreemptionFile {
 public:
  PreemptionFile() = default;
  ~PreemptionFile();
  PreemptionFile(const PreemptionFile&) = delete;
  PreemptionFile& operator=(const PreemptionFile&) = delete;

  // Where it will be: in `folder`, an agent's own (see RemoveSocketFolder);
  // empty: nowhere.
  void PutInto(const std::string& folder);

  // Empty where there is no folder.
  const std::string& path() const { return path_; }

  // Unavailable: it cannot be written; one line for a person.
  absl::Status Write(const rendezvous::PreemptionNotice& notice);

 private:
  std::string path_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PREEMPTION_PREEMPTION_FILE_H_
