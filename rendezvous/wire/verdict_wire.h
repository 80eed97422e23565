#ifndef MUSTER_RENDEZVOUS_WIRE_VERDICT_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_VERDICT_WIRE_H_

#include "rendezvous/protocol/failure.h"
#include "rendezvous/protocol/verdict.h"
#include "rendezvous/wire/bounded_reader.h"

namespace muster::v1 {
class Failure;
class Verdict;
}  // namespace muster::v1

namespace muster::rendezvous {

// Converts a worker's failure to protobuf. Cuts texts to the limits that the
// coordinator checks. Otherwise the coordinator would refuse the report of a
// node whose worker has failed with long output.
void ToWire(const Failure& failure, v1::Failure* wire);
void FromWire(const v1::Failure& wire, BoundedReader* reader, Failure* failure);

void ToWire(const Verdict& verdict, v1::Verdict* wire);
void FromWire(const v1::Verdict& wire, BoundedReader* reader, Verdict* verdict);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_VERDICT_WIRE_H_
