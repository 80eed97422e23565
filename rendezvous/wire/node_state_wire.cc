#include "rendezvous/wire/node_state_wire.h"

#include "proto/coordinator.pb.h"
#include "rendezvous/wire/bounds.h"

namespace muster::rendezvous {

void ToWire(const PreemptionNotice& notice, v1::PreemptionNotice* wire) {
  wire->set_signal(notice.signal);
  wire->set_host(notice.host);
  wire->set_left(notice.left.count());
}

void FromWire(const v1::PreemptionNotice& wire, BoundedReader* reader,
              PreemptionNotice* notice) {
  reader->Integer("signal", wire.signal(), 1, kMostSignal, &notice->signal);
  reader->Text("host", wire.host(), kMostNameBytes, TextKind::kName,
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

int ToWire(Fitness fitness) {
  switch (fitness) {
    case Fitness::kFit:
      return v1::FIT;
    case Fitness::kUnchecked:
      return v1::UNCHECKED;
    case Fitness::kUnfit:
      return v1::UNFIT;
  }
  return v1::FITNESS_UNSPECIFIED;
}

void FromWire(int wire, BoundedReader* reader, Fitness* fitness) {
  switch (wire) {
    case v1::FIT:
      *fitness = Fitness::kFit;
      return;
    case v1::UNCHECKED:
      *fitness = Fitness::kUnchecked;
      return;
    case v1::UNFIT:
      *fitness = Fitness::kUnfit;
      return;
    default:
      reader->Unknown("fitness", wire);
  }
}

}  // namespace muster::rendezvous
