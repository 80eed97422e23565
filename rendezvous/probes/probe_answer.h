#ifndef MUSTER_RENDEZVOUS_PROBES_PROBE_ANSWER_H_
#define MUSTER_RENDEZVOUS_PROBES_PROBE_ANSWER_H_

#include <functional>
#include <string>

#include "absl/status/status.h"

namespace muster {

// The three questions, as Kubernetes asks them. Each answers OkStatus, or in
// one line why not, at once and from any thread.
struct Probes {
  std::function<absl::Status()> live;     // else: kill it and start it again
  std::function<absl::Status()> started;  // until then nothing else is asked
  std::function<absl::Status()> ready;    // whether it does its work now
};

// An HTTP response without its headers.
struct ProbeAnswer {
  int status = 200;
  std::string body;
};

// Answers GET and HEAD of /livez, /startupz and /readyz (a query behind it is
// ignored): 200, or 503 with the reason. 404 and 405: anything else.
ProbeAnswer AnswerProbe(const Probes& probes, const std::string& method,
                        const std::string& target);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_PROBES_PROBE_ANSWER_H_
