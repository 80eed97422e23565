#include "rendezvous/server/attach_service.h"

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/coordinator.grpc.pb.h"
#include "rendezvous/grpc/grpc_setup.h"
#include "rendezvous/tls/tls_credentials.h"
#include "rendezvous/tls/tls_names.h"
#include "rendezvous/wire/directive_wire.h"
#include "rendezvous/wire/report_wire.h"

namespace muster::rendezvous {
namespace {

using AttachReactor = grpc::ServerBidiReactor<v1::Report, v1::Directive>;

// One agent's stream. gRPC calls OnRead… and OnWrite… of one stream from
// several threads at once, but never from within StartWrite, so StartWrite may
// be called with the lock held.
class AgentStream : public AttachReactor, private DirectiveSink {
 public:
  // `streams`: the number of open streams, including this one.
  AgentStream(Coordinator* coordinator, std::atomic<int>* streams,
              grpc::CallbackServerContext* context)
      : coordinator_(coordinator),
        streams_(streams),
        names_(PeerNames(*context->auth_context())),
        peer_ip_(PeerIp(context->peer())),
        stream_(coordinator->Attach(this, peer_ip_)) {
    // The header is sent at once: it tells the agent that it was accepted.
    context->AddInitialMetadata(kWelcome, "1");
    StartSendInitialMetadata();
    Read();
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      End(grpc::Status::OK);
      return;
    }
    Report report;
    absl::Status status = FromWire(*arriving_, &report);
    arriving_.reset();
    const absl::Status identity =
        status.ok() ? CheckIdentity(report) : absl::OkStatus();
    if (!identity.ok()) {
      End(ToGrpc(identity));
      return;
    }
    if (status.ok()) {
      AddSeenAddress(&report);
      status = coordinator_->OnReport(stream_, std::move(report));
    }
    if (!status.ok()) {
      End(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT,
                       std::string(status.message())));
      return;
    }
    Read();
  }

  void OnWriteDone(bool ok) override {
    std::lock_guard<std::mutex> lock(mutex_);
    leaving_.reset();
    if (!ok || ended_ || unsent_ == nullptr) return;
    const std::unique_ptr<Directive> next = std::move(unsent_);
    Write(*next);
  }

  void OnDone() override {
    --*streams_;
    delete this;
  }

 private:
  void Deliver(const Directive& directive) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (ended_) return;
    // Drop this directive: a newer one has already been delivered.
    if (directive.epoch == epoch_ && directive.revision < revision_) return;
    epoch_ = directive.epoch;
    revision_ = directive.revision;
    if (leaving_ == nullptr) {
      Write(directive);
    } else {
      unsent_ = std::make_unique<Directive>(directive);
    }
  }

  // Behind NAT the node's workers come from the address that is seen here.
  void AddSeenAddress(Report* report) const {
    std::vector<std::string>& known = report->addresses;
    if (!peer_ip_.empty() &&
        std::find(known.begin(), known.end(), peer_ip_) == known.end()) {
      known.insert(known.begin(), peer_ip_);
    }
  }

  // Starts the write of `directive`. Requires mutex_.
  void Write(const Directive& directive) {
    leaving_ = std::make_unique<v1::Directive>();
    ToWire(directive, leaving_.get());
    StartWrite(leaving_.get());
  }

  // With TLS, checks that the certificate may speak for the report's node.
  absl::Status CheckIdentity(const Report& report) const {
    if (!names_.has_value()) return absl::OkStatus();
    return CheckClaim(
        *names_,
        {.run_id = report.run_id, .host = report.node.host, .ip = peer_ip_});
  }

  void Read() {
    arriving_ = std::make_unique<v1::Report>();
    StartRead(arriving_.get());
  }

  // Called once, from OnReadDone; nothing is read afterwards.
  void End(const grpc::Status& status) {
    coordinator_->Detach(stream_);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ended_ = true;
    }
    Finish(status);
  }

  Coordinator* const coordinator_;
  std::atomic<int>* const streams_;
  // The names in the peer's certificate; nullopt without TLS.
  const std::optional<CertificateNames> names_;
  const std::string peer_ip_;
  const StreamId stream_;
  // Messages exist only while gRPC uses them, to save memory: there are
  // thousands of streams, mostly idle.
  std::unique_ptr<v1::Report> arriving_;

  std::mutex mutex_;
  bool ended_ = false;
  uint64_t epoch_ = 0;  // epoch of the newest directive received
  uint64_t revision_ = 0;
  std::unique_ptr<v1::Directive> leaving_;  // null: no write is in flight
  // The newest directive, while the write of `leaving_` is in flight.
  std::unique_ptr<Directive> unsent_;
};

// A stream that is refused: it ends at once with a status.
class TurnedAway : public AttachReactor {
 public:
  explicit TurnedAway(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

class AttachService : public v1::Coordinator::CallbackService {
 public:
  AttachService(Coordinator* coordinator, const CallerCheck* check,
                int max_streams)
      : coordinator_(coordinator), check_(check), max_streams_(max_streams) {}

  AttachReactor* Attach(grpc::CallbackServerContext* context) override {
    const grpc::Status allowed = check_->Check(*context);
    if (!allowed.ok()) return new TurnedAway(allowed);
    if (++streams_ > max_streams_) {
      --streams_;
      return new TurnedAway(
          {grpc::StatusCode::RESOURCE_EXHAUSTED,
           absl::StrCat("this coordinator has no room for more than ",
                        max_streams_,
                        " nodes; raise its limit of open files (ulimit -n)")});
    }
    return new AgentStream(coordinator_, &streams_, context);
  }

 private:
  muster::rendezvous::Coordinator* const coordinator_;
  const CallerCheck* const check_;
  const int max_streams_;
  std::atomic<int> streams_ = 0;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeAttachService(Coordinator* coordinator,
                                                 const CallerCheck* check,
                                                 int max_streams) {
  return std::make_unique<AttachService>(coordinator, check, max_streams);
}

}  // namespace muster::rendezvous
