#ifndef MUSTER_RENDEZVOUS_WIRE_SPEC_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_SPEC_WIRE_H_

#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/wire/bounded_reader.h"

namespace muster::v1 {
class JobSpec;
}  // namespace muster::v1

namespace muster::rendezvous {

void ToWire(const JobSpec& spec, v1::JobSpec* wire);
// Checks only the sizes of fields; JobSpec::Validate checks their meaning.
void FromWire(const v1::JobSpec& wire, BoundedReader* reader, JobSpec* spec);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_SPEC_WIRE_H_
