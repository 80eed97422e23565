#ifndef MUSTER_RENDEZVOUS_WIRE_FAILURE_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_FAILURE_WIRE_H_

#include "rendezvous/protocol/failure.h"
#include "rendezvous/wire/bounded_reader.h"

namespace muster {

namespace v1 {
class Failure;
}

// Cuts texts that are longer than a receiver takes: a worker's last words must
// not cost a node its place.
void ToWire(const Failure& failure, v1::Failure* wire);
void FromWire(const v1::Failure& wire, BoundedReader* reader, Failure* failure);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_WIRE_FAILURE_WIRE_H_
