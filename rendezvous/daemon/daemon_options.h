#ifndef MUSTER_RENDEZVOUS_DAEMON_DAEMON_OPTIONS_H_
#define MUSTER_RENDEZVOUS_DAEMON_DAEMON_OPTIONS_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster {

// rendezvousd's command line.
struct DaemonOptions {
  enum class Request { kServe, kShow };

  // kShow: print `text` and exit with 0; nothing else counts.
  Request request = Request::kServe;
  std::string text;

  Endpoint listen{"0.0.0.0", kDefaultPort};
  std::string token_file;
  Duration keep_finished = std::chrono::minutes(10);
  std::string event_log;
  std::string port_file;
  std::optional<Endpoint> probe_listen;  // where probes are answered
};

// InvalidArgument: one line that names the option and what is wrong.
absl::StatusOr<DaemonOptions> ParseDaemonOptions(int argc,
                                                 const char* const* argv);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_DAEMON_DAEMON_OPTIONS_H_
