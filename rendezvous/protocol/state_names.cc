#include "rendezvous/protocol/state_names.h"

namespace muster::rendezvous {

const char* PhaseText(JobPhase phase) {
  switch (phase) {
    case JobPhase::kGathering:
      return "gathering";
    case JobPhase::kRunning:
      return "running";
    case JobPhase::kStopping:
      return "stopping";
    case JobPhase::kFinished:
      return "finished";
  }
  return "unknown";
}

const char* PhaseText(NodePhase phase) {
  switch (phase) {
    case NodePhase::kIdle:
      return "idle";
    case NodePhase::kRunning:
      return "running";
    case NodePhase::kStopping:
      return "stopping";
    case NodePhase::kSucceeded:
      return "succeeded";
  }
  return "unknown";
}

const char* PhaseText(SlowPhase phase) {
  switch (phase) {
    case SlowPhase::kCompute:
      return "compute";
    case SlowPhase::kData:
      return "data";
    case SlowPhase::kNetwork:
      return "network";
  }
  return "unknown";
}

const char* ComparedText(SlowPhase phase) {
  return phase == SlowPhase::kNetwork ? "the other links" : "the median";
}

const char* HealthText(Health health) {
  switch (health) {
    case Health::kHealthy:
      return "healthy";
    case Health::kUnchecked:
      return "unchecked";
    case Health::kUnhealthy:
      return "unhealthy";
  }
  return "unknown";
}

const char* HostStateText(HostState state) {
  switch (state) {
    case HostState::kHealthy:
      return "healthy";
    case HostState::kSuspected:
      return "suspected";
    case HostState::kQuarantined:
      return "quarantined";
    case HostState::kBanned:
      return "banned";
    case HostState::kFreed:
      return "freed";
  }
  return "unknown";
}

const char* OutcomeText(Outcome outcome) {
  switch (outcome) {
    case Outcome::kSucceeded:
      return "succeeded";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kCancelled:
      return "cancelled";
    case Outcome::kTimedOut:
      return "timed out";
    case Outcome::kPreempted:
      return "preempted";
  }
  return "unknown";
}

}  // namespace muster::rendezvous
