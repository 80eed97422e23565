#ifndef MUSTER_RENDEZVOUS_CLIENT_GRPC_LINK_H_
#define MUSTER_RENDEZVOUS_CLIENT_GRPC_LINK_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "rendezvous/client/channel.h"
#include "rendezvous/client/coordinator_link.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/tls/tls_files.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace muster::rendezvous {

// One call of the RPC Attach: a stream to the coordinator, which is not
// reopened after it ends. Thread-safe.
class AgentStream {
 public:
  // Callbacks, called from gRPC's threads, one at a time. They must neither
  // call Close nor destroy the stream.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void OnUp() = 0;
    virtual void OnDirective(Directive directive) = 0;
    // The last callback: the stream has ended, and another thread may destroy
    // the AgentStream from now on. `status` is gRPC's status. If a field of a
    // directive was out of its bounds, `status` is InvalidArgument with a
    // message that contains "directive".
    virtual void OnEnded(absl::Status status) = 0;
  };

  // `token`: the job token; empty: none. `listener` must outlive the stream.
  AgentStream(const std::shared_ptr<grpc::Channel>& channel,
              const std::string& token, Listener* listener);
  // The stream must not be destroyed before it has called Listener::OnEnded.
  ~AgentStream();

  AgentStream(const AgentStream&) = delete;
  AgentStream& operator=(const AgentStream&) = delete;

  // Sends `report` once the stream is up and no write is in flight; replaces an
  // unsent report.
  void Send(const Report& report);
  // Ends the stream after sending the unsent report, if any. OnEnded is called
  // once the coordinator has received everything. Does not block.
  void Close();
  // Ends the stream at once, without sending the unsent report. gRPC's thread
  // then calls Listener::OnEnded.
  void Cancel();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// A link over gRPC. Owns one thread, which makes all callbacks. Each attempt
// resolves the host names again and tries every address of every endpoint and
// standby in turn, as Dialer does. If an address does not answer, Close takes
// up to 1.2 s.
class GrpcLink : public CoordinatorLink {
 public:
  struct Options {
    // where coordinators may listen; at least one
    std::vector<Endpoint> endpoints;
    TlsFiles tls;  // empty: unencrypted connections
    // The job token that is sent with each call; empty: none.
    std::string token;
    KeepAlive keep_alive = {};
  };

  explicit GrpcLink(Options options);
  ~GrpcLink() override;  // calls Close if it was not called

  void Open(LinkEvents events) override;
  void Send(const Report& report) override;
  void SetStandbys(const std::vector<std::string>& standbys) override;
  void Reconnect(Duration pause, const std::string& endpoint) override;
  std::unique_ptr<AnswerSender> Answer(const std::string& run_id,
                                       uint64_t inquiry) override;
  void Close() override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_GRPC_LINK_H_
