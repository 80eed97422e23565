#ifndef MUSTER_RENDEZVOUS_WIRE_DIRECTIVE_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_DIRECTIVE_WIRE_H_

#include "absl/status/status.h"
#include "rendezvous/protocol/directive.h"

namespace muster::v1 {
class Directive;
}  // namespace muster::v1

namespace muster::rendezvous {

// Converts a directive (an order from the coordinator to an agent) to protobuf.
// Writes only the fields that the directive's kind uses.
void ToWire(const Directive& directive, v1::Directive* wire);

// Reads a directive. InvalidArgument names the field that is out of bounds. If
// the protocol version differs, reads nothing else and returns OK: the agent
// then gives up because of the version.
absl::Status FromWire(const v1::Directive& wire, Directive* directive);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_DIRECTIVE_WIRE_H_
