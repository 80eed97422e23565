#ifndef MUSTER_RENDEZVOUS_SERVER_DIRECTIVE_SINK_H_
#define MUSTER_RENDEZVOUS_SERVER_DIRECTIVE_SINK_H_

#include "rendezvous/protocol/directive.h"

namespace muster::rendezvous {

// The receiver of one attached agent's directives: a gRPC stream, or an agent
// in the same process.
class DirectiveSink {
 public:
  virtual ~DirectiveSink() = default;
  // Must be thread-safe, must not block and must not call the coordinator. Two
  // calls may arrive out of order; the sink keeps the newest revision only.
  virtual void Deliver(const Directive& directive) = 0;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_DIRECTIVE_SINK_H_
