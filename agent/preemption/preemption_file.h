#ifndef MUSTER_AGENT_PREEMPTION_PREEMPTION_FILE_H_
#define MUSTER_AGENT_PREEMPTION_PREEMPTION_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "rendezvous/protocol/report.h"

namespace muster::agent {

// The text of MUSTER_PREEMPTION_FILE: one line of JSON with the signal's name,
// the host that got it, and the remaining grace period in seconds. Pure.
//
//   {"signal":"SIGUSR1","host":"n1","grace_s":118.5}
std::string PreemptionLine(const rendezvous::PreemptionNotice& notice);

// The file that tells a node's workers that the job is being preempted. Written
// atomically when the notice comes; removed by the destructor.
class PreemptionFile {
 public:
  PreemptionFile() = default;
  ~PreemptionFile();
  PreemptionFile(const PreemptionFile&) = delete;
  PreemptionFile& operator=(const PreemptionFile&) = delete;

  // Sets the folder of the file: one that the agent owns (see
  // RemoveSocketFolder); empty: no file.
  void PutInto(const std::string& folder);

  // Empty if there is no folder.
  const std::string& path() const { return path_; }

  // Writes the file. Unavailable, one line: the file cannot be written.
  absl::Status Write(const rendezvous::PreemptionNotice& notice);

 private:
  std::string path_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PREEMPTION_PREEMPTION_FILE_H_
