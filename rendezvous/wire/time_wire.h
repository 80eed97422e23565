#ifndef MUSTER_RENDEZVOUS_WIRE_TIME_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_TIME_WIRE_H_

#include "rendezvous/protocol/time_ledger.h"
#include "rendezvous/wire/bounded_reader.h"

namespace muster::v1 {
class JobTime;
class JobTime_Incident;
class NodeTime;
}  // namespace muster::v1

namespace muster::rendezvous {

void ToWire(const NodeTime& time, v1::NodeTime* wire);
void FromWire(const v1::NodeTime& wire, BoundedReader* reader, NodeTime* time);

void ToWire(const Incident& incident, v1::JobTime_Incident* wire);
void FromWire(const v1::JobTime_Incident& wire, BoundedReader* reader,
              Incident* incident);

void ToWire(const JobTime& time, v1::JobTime* wire);
void FromWire(const v1::JobTime& wire, BoundedReader* reader, JobTime* time);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_TIME_WIRE_H_
