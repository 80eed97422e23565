#ifndef MUSTER_RENDEZVOUS_WIRE_FAILURE_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_FAILURE_WIRE_H_

#include "rendezvous/protocol/failure.h"
#include "rendezvous/wire/bounded_reader.h"

namespace muster::v1 {
class Failure;
}  // namespace muster::v1

namespace muster::rendezvous {

// Cuts texts to the receiver's limits, so that a worker's long output does not
// get its node refused.
void ToWire(const Failure& failure, v1::Failure* wire);
void FromWire(const v1::Failure& wire, BoundedReader* reader, Failure* failure);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_FAILURE_WIRE_H_
