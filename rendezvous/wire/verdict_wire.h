#ifndef MUSTER_RENDEZVOUS_WIRE_VERDICT_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_VERDICT_WIRE_H_

#include "rendezvous/protocol/verdict.h"
#include "rendezvous/wire/bounded_reader.h"

namespace muster::v1 {
class Verdict;
}  // namespace muster::v1

namespace muster::rendezvous {

void ToWire(const Verdict& verdict, v1::Verdict* wire);
void FromWire(const v1::Verdict& wire, BoundedReader* reader, Verdict* verdict);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_VERDICT_WIRE_H_
