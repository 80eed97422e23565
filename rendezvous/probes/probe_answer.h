#ifndef MUSTER_RENDEZVOUS_PROBES_PROBE_ANSWER_H_
#define MUSTER_RENDEZVOUS_PROBES_PROBE_ANSWER_H_

#include <functional>
#include <string>

#include "absl/status/status.h"

namespace muster::rendezvous {

// The three probes of Kubernetes. Each returns OkStatus or the reason in one
// line, without blocking, from any thread.
struct Probes {
  // If not OK: Kubernetes restarts the container.
  std::function<absl::Status()> live;
  std::function<absl::Status()> started;  // until OK, no other probe is made
  std::function<absl::Status()> ready;    // OK while the program accepts work
};

// An HTTP response without its headers.
struct ProbeAnswer {
  int status = 200;
  std::string body;
};

// Answers GET and HEAD of /livez, /startupz and /readyz (a query string is
// ignored) with 200, or 503 and the reason. Otherwise 404 or 405.
ProbeAnswer AnswerProbe(const Probes& probes, const std::string& method,
                        const std::string& target);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROBES_PROBE_ANSWER_H_
