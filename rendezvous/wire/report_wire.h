#ifndef MUSTER_RENDEZVOUS_WIRE_REPORT_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_REPORT_WIRE_H_

#include <vector>

#include "absl/status/status.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/wire/bounded_reader.h"

namespace google::protobuf {
template <typename T>
class RepeatedPtrField;
}

namespace muster::v1 {
class NodeIdentity;
class Report;
class SignalNotice;
}  // namespace muster::v1

namespace muster::rendezvous {

void ToWire(const Report& report, v1::Report* wire);

// Returns InvalidArgument that names the field outside of its bounds. If the
// protocol version differs, reads nothing else and returns OK, so that the
// receiver can refuse the report for its version.
absl::Status FromWire(const v1::Report& wire, Report* report);

void ToWire(const NodeIdentity& node, v1::NodeIdentity* wire);
void FromWire(const v1::NodeIdentity& wire, BoundedReader* reader,
              NodeIdentity* node);

using WireSignals = google::protobuf::RepeatedPtrField<v1::SignalNotice>;
void ToWire(const std::vector<SignalNotice>& signals, WireSignals* wire);
void FromWire(const WireSignals& wire, BoundedReader* reader,
              std::vector<SignalNotice>* signals);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_REPORT_WIRE_H_
