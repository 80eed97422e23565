#ifndef MUSTER_RENDEZVOUS_WIRE_STATUS_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_STATUS_WIRE_H_

#include "absl/status/status.h"
#include "rendezvous/protocol/inquiry.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::v1 {
class Decision;
class InquiryUpdate;
class JobStatus;
}  // namespace muster::v1

namespace muster::rendezvous {

// Conversions to and from protobuf of what an operator receives: jobs' states,
// decisions, and answers to inquiries.
void ToWire(const JobStatus& status, v1::JobStatus* wire);
absl::Status FromWire(const v1::JobStatus& wire, JobStatus* status);

void ToWire(const InquiryUpdate& update, v1::InquiryUpdate* wire);
absl::Status FromWire(const v1::InquiryUpdate& wire, InquiryUpdate* update);

void ToWire(const Decision& decision, v1::Decision* wire);
absl::Status FromWire(const v1::Decision& wire, Decision* decision);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_STATUS_WIRE_H_
