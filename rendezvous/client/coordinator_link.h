#ifndef MUSTER_RENDEZVOUS_CLIENT_COORDINATOR_LINK_H_
#define MUSTER_RENDEZVOUS_CLIENT_COORDINATOR_LINK_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/report.h"

namespace muster {

// What a link tells its agent. Called from any thread, one at a time, never
// after Close has returned.
struct LinkEvents {
  // A stream is up; the agent answers with Send. `own_address`: the local IP
  // address that this connection goes out from, i.e. the one that really
  // reaches the coordinator; empty inside one process. `peer_address`: the
  // coordinator's.
  std::function<void(std::string own_address, std::string peer_address)>
      on_connected;
  std::function<void(Directive)> on_directive;
  // The stream broke, or an attempt failed; the link tries again by itself.
  // Unauthenticated and FailedPrecondition (a stranger, an incompatible
  // version) will not mend: the agent gives up on those.
  std::function<void(absl::Status)> on_disconnected;
};

// An agent's connection to the coordinator: one stream, made again whenever it
// breaks (at once the first time, then after 50 ms, doubling to 1 s; more
// quickly until the first stream, see retry_pace.h).
//
// Reports are level-triggered, so a link keeps the newest unsent one only.
// Thread-safe.
class CoordinatorLink {
 public:
  virtual ~CoordinatorLink() = default;

  // Starts connecting. Call once.
  virtual void Open(LinkEvents events) = 0;

  // Sends `report` once the stream is up and idle; replaces an unsent one.
  virtual void Send(const Report& report) = 0;

  // The coordinator at the other end is the wrong one: ends the stream without
  // an event and, a second later, connects again, to another address of the
  // endpoint if it has several.
  virtual void Reconnect() {}

  // Sends what is unsent (for at most a moment), ends the stream and waits
  // until no event can come any more.
  virtual void Close() = 0;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_CLIENT_COORDINATOR_LINK_H_
