#include "rendezvous/wire/node_state_wire.h"

#include "proto/coordinator.pb.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/wire/bounds.h"

namespace muster::rendezvous {

void ToWire(const PreemptionNotice& notice, v1::PreemptionNotice* wire) {
  wire->set_signal(notice.signal);
  wire->set_host(notice.host);
  wire->set_left(notice.left.count());
}

void FromWire(const v1::PreemptionNotice& wire, BoundedReader* reader,
              PreemptionNotice* notice) {
  reader->Integer("signal", wire.signal(), 1, kMaxSignal, &notice->signal);
  reader->Text("host", wire.host(), kMaxNameBytes, TextKind::kName,
               &notice->host);
  reader->Span("left", wire.left(), &notice->left);
}

int ToWire(NodePhase phase) {
  switch (phase) {
    case NodePhase::kIdle:
      return v1::IDLE;
    case NodePhase::kRunning:
      return v1::RUNNING;
    case NodePhase::kStopping:
      return v1::STOPPING;
    case NodePhase::kSucceeded:
      return v1::SUCCEEDED;
  }
  return v1::NODE_PHASE_UNSPECIFIED;
}

void FromWire(int wire, BoundedReader* reader, NodePhase* phase) {
  switch (wire) {
    case v1::IDLE:
      *phase = NodePhase::kIdle;
      return;
    case v1::RUNNING:
      *phase = NodePhase::kRunning;
      return;
    case v1::STOPPING:
      *phase = NodePhase::kStopping;
      return;
    case v1::SUCCEEDED:
      *phase = NodePhase::kSucceeded;
      return;
    default:
      reader->Unknown("phase", wire);
  }
}

int ToWire(Health health) {
  switch (health) {
    case Health::kHealthy:
      return v1::FIT;
    case Health::kUnchecked:
      return v1::UNCHECKED;
    case Health::kUnhealthy:
      return v1::UNHEALTHY;
  }
  return v1::HEALTH_UNSPECIFIED;
}

void FromWire(int wire, BoundedReader* reader, Health* health) {
  switch (wire) {
    case v1::FIT:
      *health = Health::kHealthy;
      return;
    case v1::UNCHECKED:
      *health = Health::kUnchecked;
      return;
    case v1::UNHEALTHY:
      *health = Health::kUnhealthy;
      return;
    default:
      reader->Unknown("health", wire);
  }
}

}  // namespace muster::rendezvous
