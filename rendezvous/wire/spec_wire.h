#ifndef MUSTER_RENDEZVOUS_WIRE_SPEC_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_SPEC_WIRE_H_

#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/wire/bounded_reader.h"

namespace muster {

namespace v1 {
class JobSpec;
}

void ToWire(const JobSpec& spec, v1::JobSpec* wire);
// Checks only the sizes of fields; JobSpec::Validate checks their meaning.
void FromWire(const v1::JobSpec& wire, BoundedReader* reader, JobSpec* spec);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_WIRE_SPEC_WIRE_H_
