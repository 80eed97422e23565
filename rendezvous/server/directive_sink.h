#ifndef MUSTER_RENDEZVOUS_SERVER_DIRECTIVE_SINK_H_
#define MUSTER_RENDEZVOUS_SERVER_DIRECTIVE_SINK_H_

#include "rendezvous/protocol/directive.h"

namespace muster {

// One attached agent, as the coordinator sees it: a gRPC stream or an agent in
// the same process.
class DirectiveSink {
 public:
  virtual ~DirectiveSink() = default;
  // Thread-safe, never blocks, never calls back into the coordinator. Two
  // calls may arrive out of order; the sink keeps the newest revision only.
  virtual void Deliver(const Directive& directive) = 0;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_SERVER_DIRECTIVE_SINK_H_
