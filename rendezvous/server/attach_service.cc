#include "rendezvous/server/attach_service.h"

#include <grpcpp/alarm.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/coordinator.grpc.pb.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/grpc/grpc_setup.h"
#include "rendezvous/tls/principal.h"
#include "rendezvous/tls/tls_credentials.h"
#include "rendezvous/wire/bounded_reader.h"
#include "rendezvous/wire/directive_wire.h"
#include "rendezvous/wire/inquiry_wire.h"
#include "rendezvous/wire/report_wire.h"

namespace muster::rendezvous {
namespace {

using AttachReactor = grpc::ServerBidiReactor<v1::Report, v1::Directive>;

// Time limit for a new stream to deliver a report that a job accepts.
constexpr std::chrono::seconds kFirstReportTimeout(10);

// Counts the attached nodes, and refuses more of them than NodeLimits permits.
// Thread-safe.
class Places {
 public:
  explicit Places(const NodeLimits& limits) : limits_(limits) {}

  // Counts one more attached node of `principal` (empty: unknown).
  // RESOURCE_EXHAUSTED: NodeLimits permits no further node.
  grpc::Status Take(const std::string& principal) {
    std::lock_guard<std::mutex> lock(mutex_);
    const grpc::Status free = Free(principal);
    if (!free.ok()) return free;
    ++taken_;
    if (!principal.empty()) ++taken_by_[principal];
    return grpc::Status::OK;
  }

  void GiveBack(const std::string& principal) {
    std::lock_guard<std::mutex> lock(mutex_);
    --taken_;
    const auto own = taken_by_.find(principal);
    if (own != taken_by_.end() && --own->second == 0) taken_by_.erase(own);
  }

  grpc::Status Check(const std::string& principal) {
    std::lock_guard<std::mutex> lock(mutex_);
    return Free(principal);
  }

 private:
  // Returns OK if NodeLimits permits one more node of `principal`, else
  // RESOURCE_EXHAUSTED. Requires mutex_.
  grpc::Status Free(const std::string& principal) const {
    if (taken_ >= limits_.all) {
      return {grpc::StatusCode::RESOURCE_EXHAUSTED,
              absl::StrCat(
                  "this coordinator has no room for more than ", limits_.all,
                  " nodes; raise its limit of open files (ulimit -n)")};
    }
    const auto own = taken_by_.find(principal);
    if (limits_.per_principal.has_value() && own != taken_by_.end() &&
        own->second >= *limits_.per_principal) {
      return {grpc::StatusCode::RESOURCE_EXHAUSTED,
              absl::StrCat(principal, " has ", own->second,
                           " nodes, and this coordinator permits no more "
                           "(--max-nodes-per-principal of rendezvousd)")};
    }
    return grpc::Status::OK;
  }

  const NodeLimits limits_;
  std::mutex mutex_;
  int taken_ = 0;
  // number of attached nodes by principal; a principal without nodes has no
  // entry
  std::map<std::string, int> taken_by_;
};

// Checks that the client `principal` may act for the node that `claim` names:
// it must have the role kJoin for the node's job, and one of `names`, the names
// in its certificate, must be the node's host or address. `names` is nullopt:
// the host and the address are not checked.
absl::Status CheckNode(const Principal& principal,
                       const std::optional<CertificateNames>& names,
                       const NodeClaim& claim) {
  absl::Status allowed = CheckAccess(principal, Role::kJoin, claim.run_id);
  // A certificate that names jobs is valid for all nodes of these jobs. So the
  // node's host name and address are not compared with the certificate.
  const bool is_jobs = !principal.jobs.empty();
  if (!allowed.ok() || !names.has_value() || is_jobs) return allowed;
  return CheckClaim(*names, claim);
}

// One agent's stream. gRPC calls OnRead… and OnWrite… of one stream from
// several threads at once, but never from within StartWrite. So StartWrite may
// be called while mutex_ is held.
//
// The first well-formed report attaches the stream to the coordinator. Once a
// job has accepted a report, the stream counts as a node (NodeLimits). A stream
// that does not count as a node after kFirstReportTimeout is ended.
class AgentStream : public AttachReactor, private DirectiveSink {
 public:
  // `names`: the names in the client's certificate, against which the node's
  // host and address are checked; nullopt: they are not checked.
  AgentStream(Coordinator* coordinator, ConnectionEvents* connections,
              Places* places, Principal principal,
              std::optional<CertificateNames> names,
              grpc::CallbackServerContext* context)
      : coordinator_(coordinator),
        connections_(connections),
        places_(places),
        principal_(std::move(principal)),
        names_(std::move(names)),
        peer_(context->peer()),
        peer_ip_(PeerIp(peer_)) {
    // Start sends this header at once. It tells the agent that the call was
    // accepted.
    context->AddInitialMetadata(kWelcome, "1");
  }

  // `self` points to this stream. The stream keeps `self`, and so stays alive,
  // until gRPC calls OnDone.
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
    if (status.ok() && !is_node_) {
      const grpc::Status place = places_->Take(principal_.name);
      if (!place.ok()) {
        End(place);
        return;
      }
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
    // Release the stream's reference to itself. This deletes the stream, unless
    // the callback of its alarm (OnFirstReportTimeout) is running.
    const std::shared_ptr<AgentStream> last = std::move(self_);
  }

 private:
  // Passes a report to the coordinator. Before, the caller must have admitted
  // the node within the limit of connected nodes (Places::Take). Errors: those
  // of Coordinator::OnReport.
  absl::Status PassOn(Report report) {
    if (!stream_.has_value()) {
      stream_ = coordinator_->Attach(this, peer_ip_, principal_.name);
    }
    const absl::Status status =
        coordinator_->OnReport(*stream_, std::move(report));
    if (is_node_) return status;
    if (!status.ok() || !coordinator_->HasJob(*stream_)) {
      places_->GiveBack(principal_.name);
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
    // Finish makes the pending read fail. gRPC then calls OnReadDone, which
    // cleans up.
    Finish({grpc::StatusCode::DEADLINE_EXCEEDED,
            absl::StrCat("no report that a job of this coordinator takes came "
                         "within ",
                         kFirstReportTimeout.count(),
                         " s of the stream's beginning")});
  }

  void Deliver(const Directive& directive) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (ended_) return;
    if (!order_.Admit(directive)) return;
    if (leaving_ == nullptr) {
      Write(directive);
    } else {
      unsent_ = std::make_unique<Directive>(directive);
    }
  }

  // Adds to the report's addresses the one from which the agent has connected.
  // Behind NAT the node's workers connect from this address, too.
  void AddSeenAddress(Report* report) const {
    std::vector<std::string>& known = report->addresses;
    if (!peer_ip_.empty() &&
        std::find(known.begin(), known.end(), peer_ip_) == known.end()) {
      known.insert(known.begin(), peer_ip_);
    }
  }

  // Starts to write `directive`. Requires mutex_.
  void Write(const Directive& directive) {
    leaving_ = std::make_unique<v1::Directive>();
    ToWire(directive, leaving_.get());
    StartWrite(leaving_.get());
  }

  // Checks that the peer may report for the node of `report`.
  absl::Status CheckIdentity(const Report& report) const {
    return CheckNode(
        principal_, names_,
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

  // Ends the stream. Called once, by OnReadDone; nothing is read afterwards.
  void End(const grpc::Status& status) {
    if (stream_.has_value()) coordinator_->Detach(*stream_);
    if (is_node_) {
      places_->GiveBack(principal_.name);
      connections_->Left(peer_);
    }
    std::lock_guard<std::mutex> lock(mutex_);
    alarm_.reset();
    // If `ended_` was set, OnFirstReportTimeout has already called Finish.
    if (std::exchange(ended_, true)) return;
    Finish(status);
  }

  Coordinator* const coordinator_;
  ConnectionEvents* const connections_;
  Places* const places_;
  const Principal principal_;
  const std::optional<CertificateNames> names_;
  const std::string peer_;
  const std::string peer_ip_;
  std::shared_ptr<AgentStream> self_;
  // Used without a lock, because only OnReadDone uses this member, and calls of
  // OnReadDone never overlap.
  std::optional<StreamId> stream_;
  bool is_node_ = false;
  // Messages are allocated only while gRPC uses them, to save memory: there are
  // thousands of streams, and most are idle.
  std::unique_ptr<v1::Report> arriving_;

  std::mutex mutex_;
  bool ended_ = false;
  bool has_joined_ = false;
  std::unique_ptr<grpc::Alarm> alarm_;  // calls OnFirstReportTimeout
  DirectiveOrder order_;
  // the directive that is being written; null: none
  std::unique_ptr<v1::Directive> leaving_;
  // The newest directive, if it arrived while an older one (`leaving_`) was
  // being written. It is written next. Null: none.
  std::unique_ptr<Directive> unsent_;
};

// A stream that is refused: it ends at once with an error.
class TurnedAway : public AttachReactor {
 public:
  explicit TurnedAway(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

using AnswerReactor = grpc::ServerReadReactor<v1::AnswerPart>;

// The answer of one node to an inquiry (an operator's question to the nodes,
// such as `launch logs`). The answer arrives in parts. Reads the next part only
// once the buffer for all nodes' answers (InquirySession) has room.
class AnswerStream : public AnswerReactor {
 public:
  AnswerStream(std::shared_ptr<InquirySession> session, uint64_t id)
      : session_(std::move(session)), id_(id) {}

  // `self` points to this stream. The stream keeps `self`, and so stays alive,
  // until gRPC calls OnDone.
  void Start(std::shared_ptr<AnswerStream> self) {
    const bool begun =
        session_->Begin(id_, [weak = std::weak_ptr<AnswerStream>(self)] {
          const std::shared_ptr<AnswerStream> stream = weak.lock();
          if (stream != nullptr) stream->StartRead(&stream->part_);
        });
    self_ = std::move(self);
    if (begun) {
      StartRead(&part_);
    } else {
      Finish({grpc::StatusCode::NOT_FOUND,
              "no such inquiry is open, or it is being answered already"});
    }
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      // Report the answer as lost. No effect if the answer is complete.
      session_->Lose(id_, "its answer broke off");
      Finish(grpc::Status::OK);
      return;
    }
    AnswerPart part;
    const absl::Status status = FromWire(part_, &part);
    if (!status.ok()) {
      session_->Lose(id_, std::string(status.message()));
      Finish(ToGrpc(status));
      return;
    }
    switch (session_->Take(id_, std::move(part))) {
      case OpenInquiry::Taken::kYes:
        StartRead(&part_);
        break;
      case OpenInquiry::Taken::kFull:
        // The buffer for the operator is full. Once there is room, the callback
        // that was passed to Begin reads the next part of the answer.
        break;
      case OpenInquiry::Taken::kUnwanted:
        Finish(grpc::Status::CANCELLED);
        break;
    }
  }

  void OnDone() override {
    const std::shared_ptr<AnswerStream> last = std::move(self_);
  }

 private:
  const std::shared_ptr<InquirySession> session_;
  const uint64_t id_;
  std::shared_ptr<AnswerStream> self_;
  v1::AnswerPart part_;  // the part of the answer that is being read
};

class AnswerTurnedAway : public AnswerReactor {
 public:
  explicit AnswerTurnedAway(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

// Returns the value of a call's metadata; empty: there is none.
std::string MetadataOf(const grpc::CallbackServerContext& context,
                       const char* key) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find(key);
  return found == metadata.end()
             ? std::string()
             : std::string(found->second.data(), found->second.size());
}

// Checks that the fields of an announcement are within their bounds.
absl::Status CheckAnnouncement(const v1::Announcement& announcement) {
  BoundedReader reader("announcement");
  std::string unused;
  reader.Text("run_id", announcement.run_id(), kMaxNameBytes, TextKind::kName,
              &unused);
  reader.Text("endpoint", announcement.endpoint(), kMaxEndpointBytes,
              TextKind::kName, &unused);
  int gathered = 0;
  reader.Integer("gathered", announcement.gathered(), 0, kMaxNodes, &gathered);
  uint64_t epoch = 0;
  reader.Epoch("epoch", announcement.epoch(), &epoch);
  reader.Present("epoch", epoch > 0 || gathered > 0);
  if (!reader.status().ok()) return reader.status();
  return ParseEndpoint(announcement.endpoint()).status();
}

class AttachService : public v1::Coordinator::CallbackService {
 public:
  AttachService(Coordinator* coordinator, const CallerCheck* check,
                HostNames host_names, ConnectionEvents* connections,
                const NodeLimits& limits)
      : coordinator_(coordinator),
        check_(check),
        host_names_(host_names),
        connections_(connections),
        places_(limits) {}

  AttachReactor* Attach(grpc::CallbackServerContext* context) override {
    absl::StatusOr<Principal> principal = check_->Identify(*context);
    if (!principal.ok()) return new TurnedAway(ToGrpc(principal.status()));
    // If the caller has a certificate, report this call as valid to the
    // connection listener at once, because Identify has checked the
    // certificate. Without a certificate, the call counts as valid only once a
    // job has accepted a report.
    if (PeerNames(*context->auth_context()).has_value()) {
      connections_->Proved(context->peer());
    }
    const grpc::Status place = places_.Check(principal->name);
    if (!place.ok()) return new TurnedAway(place);
    auto stream = std::make_shared<AgentStream>(coordinator_, connections_,
                                                &places_, *std::move(principal),
                                                NamesOf(*context), context);
    stream->Start(stream);
    return stream.get();
  }

  grpc::ServerUnaryReactor* Announce(grpc::CallbackServerContext* context,
                                     const v1::Announcement* announcement,
                                     v1::KnownCoordinator* known) override {
    const absl::Status taken = Take(*context, *announcement);
    if (taken.ok()) {
      if (const auto leader = coordinator_->Known(announcement->run_id())) {
        known->set_epoch(leader->epoch);
        known->set_endpoint(leader->endpoint);
      }
    }
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(ToGrpc(taken));
    return reactor;
  }

  AnswerReactor* Answer(grpc::CallbackServerContext* context,
                        v1::AnswerTaken*) override {
    const absl::StatusOr<Principal> principal = check_->Identify(*context);
    absl::Status status = principal.status();
    const std::string run_id = MetadataOf(*context, kRunIdBytes);
    if (status.ok()) {
      connections_->Proved(context->peer());
      status = CheckAccess(*principal, Role::kJoin, run_id);
    }
    // Read the id of the inquiry (an operator's question to the nodes) that
    // this call answers. Only the coordinator and one node know the id, so it
    // proves that the answer comes from that node.
    uint64_t id = 0;
    if (status.ok() && !absl::SimpleAtoi(MetadataOf(*context, kInquiry), &id)) {
      status = absl::NotFoundError("the call names no inquiry");
    }
    if (!status.ok()) return new AnswerTurnedAway(ToGrpc(status));
    absl::StatusOr<std::shared_ptr<InquirySession>> session =
        coordinator_->FindInquiry(run_id, id);
    if (!session.ok()) {
      // Do not return the error of FindInquiry. If the job is unknown, the
      // error's message lists the existing jobs, and this caller may not be
      // permitted to see them.
      return new AnswerTurnedAway(
          {grpc::StatusCode::NOT_FOUND, "no such inquiry is open"});
    }
    auto stream = std::make_shared<AnswerStream>(*std::move(session), id);
    stream->Start(stream);
    return stream.get();
  }

 private:
  // Returns the names of the caller's certificate, one of which must be the
  // caller's host or address. nullopt: the caller may be any node.
  std::optional<CertificateNames> NamesOf(
      const grpc::CallbackServerContext& context) const {
    if (host_names_ == HostNames::kAny) return std::nullopt;
    return PeerNames(*context.auth_context());
  }

  absl::Status Take(const grpc::CallbackServerContext& context,
                    const v1::Announcement& announcement) {
    const absl::StatusOr<Principal> principal = check_->Identify(context);
    if (!principal.ok()) return principal.status();
    connections_->Proved(context.peer());
    const absl::Status status = CheckAnnouncement(announcement);
    if (!status.ok()) return status;
    // A valid announcement makes the coordinator send the job's nodes to the
    // announced endpoint. So the caller's certificate must contain the host of
    // that endpoint, or the address from which the caller connects.
    const absl::Status allowed =
        CheckNode(*principal, NamesOf(context),
                  {.run_id = announcement.run_id(),
                   .host = ParseEndpoint(announcement.endpoint())->host,
                   .ip = PeerIp(context.peer())});
    if (!allowed.ok()) return allowed;
    if (announcement.gathered() > 0) {
      return coordinator_->Meet(announcement.run_id(),
                                {.endpoint = announcement.endpoint(),
                                 .nodes = announcement.gathered(),
                                 .promised = announcement.epoch()});
    }
    return coordinator_->Told(
        announcement.run_id(), announcement.epoch(), announcement.endpoint(),
        announcement.lacks_majority() ? Backing::kMinority
                                      : Backing::kMajority);
  }

  muster::rendezvous::Coordinator* const coordinator_;
  const CallerCheck* const check_;
  const HostNames host_names_;
  ConnectionEvents* const connections_;
  Places places_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeAttachService(Coordinator* coordinator,
                                                 const CallerCheck* check,
                                                 HostNames host_names,
                                                 ConnectionEvents* connections,
                                                 const NodeLimits& limits) {
  return std::make_unique<AttachService>(coordinator, check, host_names,
                                         connections, limits);
}

}  // namespace muster::rendezvous
