#ifndef MUSTER_RENDEZVOUS_WIRE_DIRECTIVE_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_DIRECTIVE_WIRE_H_

#include "absl/status/status.h"
#include "rendezvous/protocol/directive.h"

namespace muster {

namespace v1 {
class Directive;
}

// Writes what the directive's kind has a use for, and nothing else.
void ToWire(const Directive& directive, v1::Directive* wire);

// InvalidArgument names the field that is beyond its bounds. A directive of
// another protocol version is read no further than that.
absl::Status FromWire(const v1::Directive& wire, Directive* directive);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_WIRE_DIRECTIVE_WIRE_H_
