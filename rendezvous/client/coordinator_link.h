#ifndef MUSTER_RENDEZVOUS_CLIENT_COORDINATOR_LINK_H_
#define MUSTER_RENDEZVOUS_CLIENT_COORDINATOR_LINK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/inquiry.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

// Callbacks of a link. Called from any thread, but one at a time. None is
// called after Close has returned.
struct LinkEvents {
  // Called when a stream is up; the agent must then call Send. `own_address`:
  // the local IP address of this connection. `peer_address`: the coordinator's
  // IP address. `endpoint`: HOST:PORT of the endpoint that answered.
  // `own_address` and `endpoint` are empty for a link inside one process.
  std::function<void(std::string own_address, std::string peer_address,
                     std::string endpoint)>
      on_connected;
  std::function<void(Directive)> on_directive;
  // Called when the stream has broken or an attempt has failed; the link then
  // retries by itself. Unauthenticated and FailedPrecondition (the peer is not
  // a coordinator, or has an incompatible version) are permanent errors, after
  // which the agent gives up.
  std::function<void(absl::Status)> on_disconnected;
};

// Sends a node's answer to one inquiry: an operator's question about output or
// stacks, which the coordinator sends in Directive::inquiries.
class AnswerSender {
 public:
  // Cancels the answer, if it is not complete.
  virtual ~AnswerSender() = default;
  // Sends a part of the node's answer to the inquiry. Blocks while the operator
  // reads too slowly, until Cancel is called. Returns false if the answer is
  // not wanted any more or the connection is lost. If Send returns true for the
  // last part (AnswerPart::is_last), the coordinator has received all parts.
  virtual bool Send(const AnswerPart& part) = 0;
  // Makes Send return false, even a Send that is blocked at the moment. Any
  // thread.
  virtual void Cancel() = 0;
};

// An agent's connection to the coordinator: one stream, which the link opens
// again when it breaks. RetryPace (channel.h) determines the delays between the
// attempts.
//
// Every report contains the whole state of the node, so a link keeps only the
// newest unsent report. Thread-safe.
class CoordinatorLink {
 public:
  virtual ~CoordinatorLink() = default;

  // Starts connecting and returns. Must be called once.
  virtual void Open(LinkEvents events) = 0;

  // Sends `report` once the stream is up and no write is in flight; replaces an
  // unsent report.
  virtual void Send(const Report& report) = 0;

  // Replaces the list of the standbys' endpoints (HOST:PORT), which the
  // connected coordinator sends. The link tries these endpoints besides the
  // configured ones. Malformed endpoints are ignored.
  virtual void SetStandbys(const std::vector<std::string>& /*standbys*/) {}

  // Leaves a peer that is a standby or the wrong coordinator: ends the stream
  // without calling on_disconnected, and connects again after `pause`.
  // `endpoint`: the HOST:PORT to try first; empty: the next endpoint and
  // address.
  virtual void Reconnect(Duration /*pause*/, const std::string& /*endpoint*/) {}

  // Begins to send the answer to the inquiry with the id `inquiry` of job
  // `run_id`. Returns null if there is no connection. Any thread.
  virtual std::unique_ptr<AnswerSender> Answer(const std::string& /*run_id*/,
                                               uint64_t /*inquiry*/) {
    return nullptr;
  }

  // Sends the unsent report, if there is one, and waits at most half a second
  // until it is sent. Then ends the stream. No event is reported after Close
  // has returned.
  virtual void Close() = 0;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_COORDINATOR_LINK_H_
