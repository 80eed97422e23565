#ifndef MUSTER_RENDEZVOUS_WIRE_NODE_STATE_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_NODE_STATE_WIRE_H_

#include "rendezvous/protocol/report.h"
#include "rendezvous/wire/bounded_reader.h"

namespace muster::v1 {
class PreemptionNotice;
}  // namespace muster::v1

namespace muster::rendezvous {

void ToWire(const PreemptionNotice& notice, v1::PreemptionNotice* wire);
void FromWire(const v1::PreemptionNotice& wire, BoundedReader* reader,
              PreemptionNotice* notice);

// v1::NodePhase and v1::Health as int, since protobuf enums cannot be
// forward-declared.
int ToWire(NodePhase phase);
void FromWire(int wire, BoundedReader* reader, NodePhase* phase);
int ToWire(Health health);
void FromWire(int wire, BoundedReader* reader, Health* health);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_NODE_STATE_WIRE_H_
