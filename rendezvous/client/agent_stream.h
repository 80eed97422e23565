#ifndef MUSTER_RENDEZVOUS_CLIENT_AGENT_STREAM_H_
#define MUSTER_RENDEZVOUS_CLIENT_AGENT_STREAM_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/report.h"

namespace grpc {
class Channel;
}

namespace muster {

// One attempt at a stream to the coordinator, from its call to its end.
// Thread-safe.
class AgentStream {
 public:
  // Called from gRPC's threads, one at a time. They must not call Close, and
  // must not destroy the stream.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void OnUp() = 0;
    virtual void OnDirective(Directive directive) = 0;
    // Last: nothing is called after it, and the stream may be destroyed (by
    // another thread). `status` is gRPC's; InvalidArgument, with "directive" in
    // its words, where the coordinator's directive was beyond bounds.
    virtual void OnEnded(absl::Status status) = 0;
  };

  // `token`: empty for none. `listener` outlives the stream.
  AgentStream(const std::shared_ptr<grpc::Channel>& channel,
              const std::string& token, Listener* listener);
  // Only after OnEnded.
  ~AgentStream();

  AgentStream(const AgentStream&) = delete;
  AgentStream& operator=(const AgentStream&) = delete;

  // Once the stream is up and idle; replaces a report that still waits.
  void Send(const Report& report);
  // Ends the stream once nothing waits any more. OnEnded follows when the
  // coordinator has taken everything.
  void Close();
  // Ends the stream now. OnEnded follows.
  void Cancel();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_CLIENT_AGENT_STREAM_H_
