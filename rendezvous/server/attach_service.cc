#include "rendezvous/server/attach_service.h"

#include <grpcpp/alarm.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
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

// Time that a stream has for a report that a job takes.
constexpr std::chrono::seconds kFirstReportTimeout(10);

// The places for nodes. Thread-safe.
class Places {
 public:
  explicit Places(int most) : most_(most) {}

  // Returns false if no place is free.
  bool Take() {
    if (++taken_ <= most_) return true;
    --taken_;
    return false;
  }
  void GiveBack() { --taken_; }
  bool AreTaken() const { return taken_ >= most_; }

  grpc::Status NoneFree() const {
    return {grpc::StatusCode::RESOURCE_EXHAUSTED,
            absl::StrCat("this coordinator has no room for more than ", most_,
                         " nodes; raise its limit of open files (ulimit -n)")};
  }

 private:
  const int most_;
  std::atomic<int> taken_ = 0;
};

// One agent's stream. gRPC calls OnRead… and OnWrite… of one stream from
// several threads at once, but never from within StartWrite, so StartWrite may
// be called with the lock held.
//
// The coordinator learns of the stream with the first well-formed report. The
// stream is a node's, and takes a place, once a job has taken a report; a
// stream that is none within kFirstReportTimeout is ended.
class AgentStream : public AttachReactor, private DirectiveSink {
 public:
  AgentStream(Coordinator* coordinator, ConnectionEvents* connections,
              Places* places, grpc::CallbackServerContext* context)
      : coordinator_(coordinator),
        connections_(connections),
        places_(places),
        names_(PeerNames(*context->auth_context())),
        peer_(context->peer()),
        peer_ip_(PeerIp(peer_)) {
    // The header is sent at once: it tells the agent that it was accepted.
    context->AddInitialMetadata(kWelcome, "1");
  }

  // `self` keeps the stream alive until gRPC has finished with it.
  void Start(std::shared_ptr<AgentStream> self) {
    alarm_ = std::make_unique<grpc::Alarm>();
    alarm_->Set(std::chrono::system_clock::now() + kFirstReportTimeout,
                [weak = std::weak_ptr<AgentStream>(self)](bool due) {
                  if (!due) return;
                  const std::shared_ptr<AgentStream> stream = weak.lock();
                  if (stream != nullptr) stream->OnFirstReportTimeout();
                });
    self_ = std::move(self);
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
    if (status.ok() && !is_node_ && !places_->Take()) {
      End(places_->NoneFree());
      return;
    }
    if (status.ok()) {
      AddSeenAddress(&report);
      status = PassOn(std::move(report));
    }
    if (!status.ok()) {
      End(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT,
                       std::string(status.message())));
      return;
    }
    ReadOn();
  }

  void OnWriteDone(bool ok) override {
    std::lock_guard<std::mutex> lock(mutex_);
    leaving_.reset();
    if (!ok || ended_ || unsent_ == nullptr) return;
    const std::unique_ptr<Directive> next = std::move(unsent_);
    Write(*next);
  }

  void OnDone() override {
    // Drops the stream's own reference, which deletes this object unless the
    // alarm is looking at it.
    const std::shared_ptr<AgentStream> last = std::move(self_);
  }

 private:
  // Passes a report on to the coordinator. Requires a place. Errors: those of
  // Coordinator::OnReport.
  absl::Status PassOn(Report report) {
    if (!stream_.has_value()) {
      stream_ = coordinator_->Attach(this, peer_ip_);
    }
    const absl::Status status =
        coordinator_->OnReport(*stream_, std::move(report));
    if (is_node_) return status;
    if (!status.ok() || !coordinator_->HasJob(*stream_)) {
      places_->GiveBack();
      return status;
    }
    is_node_ = true;
    connections_->Joined(peer_);
    std::lock_guard<std::mutex> lock(mutex_);
    has_joined_ = true;
    alarm_.reset();
    return status;
  }

  void OnFirstReportTimeout() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (ended_ || has_joined_) return;
    ended_ = true;
    // The pending read fails, and OnReadDone does the rest.
    Finish({grpc::StatusCode::DEADLINE_EXCEEDED,
            absl::StrCat("no report that a job of this coordinator takes came "
                         "within ",
                         kFirstReportTimeout.count(),
                         " s of the stream's beginning")});
  }

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

  // Reads the next report, unless OnFirstReportTimeout has ended the stream.
  void ReadOn() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!ended_) return Read();
    }
    End(grpc::Status::OK);
  }

  void Read() {
    arriving_ = std::make_unique<v1::Report>();
    StartRead(arriving_.get());
  }

  // Called once, from OnReadDone; nothing is read afterwards.
  void End(const grpc::Status& status) {
    if (stream_.has_value()) coordinator_->Detach(*stream_);
    if (is_node_) {
      places_->GiveBack();
      connections_->Left(peer_);
    }
    std::lock_guard<std::mutex> lock(mutex_);
    alarm_.reset();
    if (std::exchange(ended_, true)) return;  // OnFirstReportTimeout finished
    Finish(status);
  }

  Coordinator* const coordinator_;
  ConnectionEvents* const connections_;
  Places* const places_;
  // The names in the peer's certificate; nullopt without TLS.
  const std::optional<CertificateNames> names_;
  const std::string peer_;
  const std::string peer_ip_;
  std::shared_ptr<AgentStream> self_;
  // Used by OnReadDone only, which is never called twice at a time.
  std::optional<StreamId> stream_;
  bool is_node_ = false;
  // Messages exist only while gRPC uses them, to save memory: there are
  // thousands of streams, mostly idle.
  std::unique_ptr<v1::Report> arriving_;

  std::mutex mutex_;
  bool ended_ = false;
  bool has_joined_ = false;
  std::unique_ptr<grpc::Alarm> alarm_;  // of OnFirstReportTimeout
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
                ConnectionEvents* connections, int max_nodes)
      : coordinator_(coordinator),
        check_(check),
        connections_(connections),
        places_(max_nodes) {}

  AttachReactor* Attach(grpc::CallbackServerContext* context) override {
    const grpc::Status allowed = check_->Check(*context);
    if (!allowed.ok()) return new TurnedAway(allowed);
    // Without a token and a certificate, only a report shows that the caller is
    // an agent.
    if (check_->needs_token() ||
        context->auth_context()->IsPeerAuthenticated()) {
      connections_->Proved(context->peer());
    }
    if (places_.AreTaken()) return new TurnedAway(places_.NoneFree());
    auto stream = std::make_shared<AgentStream>(coordinator_, connections_,
                                                &places_, context);
    stream->Start(stream);
    return stream.get();
  }

 private:
  muster::rendezvous::Coordinator* const coordinator_;
  const CallerCheck* const check_;
  ConnectionEvents* const connections_;
  Places places_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeAttachService(Coordinator* coordinator,
                                                 const CallerCheck* check,
                                                 ConnectionEvents* connections,
                                                 int max_nodes) {
  return std::make_unique<AttachService>(coordinator, check, connections,
                                         max_nodes);
}

}  // namespace muster::rendezvous
