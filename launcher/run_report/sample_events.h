#ifndef MUSTER_LAUNCHER_RUN_REPORT_SAMPLE_EVENTS_H_
#define MUSTER_LAUNCHER_RUN_REPORT_SAMPLE_EVENTS_H_

#include <optional>
#include <string>
#include <utility>

#include "launcher/run_report/recorded_event.h"
#include "rendezvous/protocol/failure.h"

namespace muster::launcher {

// The failure of a worker that SIGKILL has killed on `host`.
inline rendezvous::Failure Killed(int rank, const std::string& host) {
  rendezvous::Failure failure;
  failure.kind = rendezvous::FailureKind::kSignal;
  failure.signal = 9;
  failure.rank = rank;
  failure.host = host;
  return failure;
}

// An event of the run "a" that names no node. `time`: seconds since 1970.
inline RecordedEvent EventOf(double time, int round, std::string kind,
                             std::string reason = "") {
  return {.time = time,
          .run_id = "a",
          .round = round,
          .kind = std::move(kind),
          .node = "",
          .reason = std::move(reason),
          .failure = std::nullopt,
          .state = std::nullopt};
}

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_RUN_REPORT_SAMPLE_EVENTS_H_
