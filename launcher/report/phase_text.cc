#include "launcher/report/phase_text.h"

namespace muster::launcher {

const char* PhaseText(rendezvous::JobPhase phase) {
  switch (phase) {
    case rendezvous::JobPhase::kGathering:
      return "gathering";
    case rendezvous::JobPhase::kRunning:
      return "running";
    case rendezvous::JobPhase::kStopping:
      return "stopping";
    case rendezvous::JobPhase::kFinished:
      return "finished";
  }
  return "unknown";
}

const char* PhaseText(rendezvous::NodePhase phase) {
  switch (phase) {
    case rendezvous::NodePhase::kIdle:
      return "idle";
    case rendezvous::NodePhase::kRunning:
      return "running";
    case rendezvous::NodePhase::kStopping:
      return "stopping";
    case rendezvous::NodePhase::kSucceeded:
      return "succeeded";
  }
  return "unknown";
}

const char* HealthText(rendezvous::Health health) {
  switch (health) {
    case rendezvous::Health::kHealthy:
      return "healthy";
    case rendezvous::Health::kUnchecked:
      return "unchecked";
    case rendezvous::Health::kUnhealthy:
      return "unhealthy";
  }
  return "unknown";
}

const char* OutcomeText(rendezvous::Outcome outcome) {
  switch (outcome) {
    case rendezvous::Outcome::kSucceeded:
      return "succeeded";
    case rendezvous::Outcome::kFailed:
      return "failed";
    case rendezvous::Outcome::kCancelled:
      return "cancelled";
    case rendezvous::Outcome::kTimedOut:
      return "timed out";
    case rendezvous::Outcome::kPreempted:
      return "preempted";
  }
  return "unknown";
}

}  // namespace muster::launcher
