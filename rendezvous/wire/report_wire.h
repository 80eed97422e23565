#ifndef MUSTER_RENDEZVOUS_WIRE_REPORT_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_REPORT_WIRE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/progress.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/wire/bounded_reader.h"

namespace google::protobuf {
template <typename T>
class RepeatedPtrField;
}  // namespace google::protobuf

namespace muster::v1 {
class WorkerProgress;
class PreemptionNotice;
class Electorate;
class JobSpec;
class NodeIdentity;
class Place;
class Report;
class SignalNotice;
}  // namespace muster::v1

namespace muster::rendezvous {

using WireProgress = google::protobuf::RepeatedPtrField<v1::WorkerProgress>;
// Converts the workers' progress; omits workers beyond kMaxProgressPerReport.
void ToWire(const std::vector<WorkerProgress>& progress, WireProgress* wire);
void FromWire(const WireProgress& wire, BoundedReader* reader,
              std::vector<WorkerProgress>* progress);

void ToWire(const PreemptionNotice& notice, v1::PreemptionNotice* wire);
void FromWire(const v1::PreemptionNotice& wire, BoundedReader* reader,
              PreemptionNotice* notice);

void ToWire(const Electorate& electorate, v1::Electorate* wire);
void FromWire(const v1::Electorate& wire, BoundedReader* reader,
              Electorate* electorate);

void ToWire(const Place& place, v1::Place* wire);
void FromWire(const v1::Place& wire, BoundedReader* reader, Place* place);

// Conversions to and from the protobuf enums v1::NodePhase, v1::Health and
// v1::StopOrder::Cause. The protobuf enums have the type int here, because they
// cannot be forward-declared.
int ToWire(NodePhase phase);
void FromWire(int wire, BoundedReader* reader, NodePhase* phase);
int ToWire(Health health);
void FromWire(int wire, BoundedReader* reader, Health* health);
// Reads a FaultKind. The number on the wire is the enum's value.
void FromWire(int wire, BoundedReader* reader, FaultKind* kind);
int ToWire(StopCause cause);
void FromWire(int wire, BoundedReader* reader, StopCause* cause);

void ToWire(const JobSpec& spec, v1::JobSpec* wire);
// Reads a JobSpec, the description of a job. Checks only the sizes of the
// fields; JobSpec::Validate checks their meaning.
void FromWire(const v1::JobSpec& wire, BoundedReader* reader, JobSpec* spec);

void ToWire(const Report& report, v1::Report* wire);

// Reads a report. InvalidArgument names the field that is out of bounds. If the
// protocol version differs, reads nothing else and returns OK: the receiver
// then refuses the report because of its version.
absl::Status FromWire(const v1::Report& wire, Report* report);

void ToWire(const NodeIdentity& node, v1::NodeIdentity* wire);
void FromWire(const v1::NodeIdentity& wire, BoundedReader* reader,
              NodeIdentity* node);

// Converts the age of a job from nanoseconds. Limits the age to between 0 and
// 100 years, so that later additions to it cannot overflow.
Duration AgeFromWire(int64_t nanoseconds);

using WireSignals = google::protobuf::RepeatedPtrField<v1::SignalNotice>;
void ToWire(const std::vector<SignalNotice>& signals, WireSignals* wire);
void FromWire(const WireSignals& wire, BoundedReader* reader,
              std::vector<SignalNotice>* signals);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_REPORT_WIRE_H_
