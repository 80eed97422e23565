#include "rendezvous/server/admin_service.h"

#include <grpc/support/time.h>
#include <grpcpp/alarm.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/monotonic_clock.h"
#include "proto/admin.grpc.pb.h"
#include "proto/admin.pb.h"
#include "rendezvous/grpc/grpc_setup.h"
#include "rendezvous/protocol/inquiry.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/server/answer_cache.h"
#include "rendezvous/server/caller_check.h"
#include "rendezvous/tls/principal.h"
#include "rendezvous/version.h"
#include "rendezvous/wire/bounded_reader.h"
#include "rendezvous/wire/inquiry_wire.h"
#include "rendezvous/wire/memory_wire.h"
#include "rendezvous/wire/status_wire.h"

namespace muster::rendezvous {
namespace {

// Minimum interval between two updates of a WatchStream in milliseconds.
constexpr int64_t kLeastIntervalMs = 100;

// Sends the coordinator's decisions about a job, and the job's status, to one
// operator (`launch watch`). The stream is always in one of three states
// (Waiting): it waits for the coordinator's next decision, for the alarm that
// keeps the minimum interval between updates, or for the end of a write to the
// operator.
class WatchStream : public grpc::ServerWriteReactor<v1::JobUpdate> {
 public:
  // `after`: the number of the last decision of the job that the operator has
  // received. The stream sends only later decisions.
  WatchStream(Coordinator* coordinator, std::string run_id,
              const DecisionCursor& after)
      : coordinator_(coordinator), run_id_(std::move(run_id)), cursor_(after) {}

  // `self` keeps the stream alive until gRPC calls OnDone.
  void Start(std::shared_ptr<WatchStream> self) {
    self_ = std::move(self);
    // Hold the lock while Coordinator::Watch runs. As soon as Watch has
    // registered this stream, other threads may pass new decisions to Note(),
    // which waits for the lock. So Start queues the decisions that the operator
    // missed before Note() queues a new one.
    std::lock_guard<std::mutex> lock(mutex_);
    auto watch = coordinator_->Watch(
        run_id_, &cursor_,
        [this](const Decision& decision) { Note(decision); });
    if (!watch.ok()) {
      Finish(ToGrpc(watch.status()));
      return;
    }
    watch_ = watch->id;
    Drop(watch->missed.dropped);
    decisions_.assign(watch->missed.decisions.begin(),
                      watch->missed.decisions.end());
    waiting_ = Waiting::kForTurn;
    Update();
  }

  void OnWriteDone(bool ok) override {
    std::lock_guard<std::mutex> lock(mutex_);
    update_.reset();
    if (ended_) return;
    if (!ok || last_) {
      End(grpc::Status::OK);
      return;
    }
    waiting_ = Waiting::kForDecision;
    if (!decisions_.empty()) SetAlarm();
  }

  void OnCancel() override {
    std::lock_guard<std::mutex> lock(mutex_);
    End(grpc::Status::CANCELLED);
  }

  void OnDone() override {
    if (watch_.has_value()) coordinator_->Unwatch(*watch_);
    alarm_.Cancel();
    // Release this stream's reference to itself. This deletes the stream,
    // unless a pending alarm still refers to it.
    const std::shared_ptr<WatchStream> last = std::move(self_);
  }

 private:
  enum class Waiting { kForDecision, kForTurn, kForWrite };

  void Note(const Decision& decision) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (ended_) return;
    ++cursor_.count;
    decisions_.push_back(decision);
    if (decisions_.size() > kMaxDecisionsPerUpdate) {
      decisions_.pop_front();
      Drop(1);
    }
    if (waiting_ == Waiting::kForDecision) SetAlarm();
  }

  // Counts decisions that the operator does not get. Requires mutex_.
  void Drop(int decisions) {
    dropped_ += decisions;
    coordinator_->NoteMissed(decisions);
  }

  // Schedules the next update. Requires mutex_. Uses an alarm even if an update
  // is due now: the calling thread may be executing a step of the job, and must
  // not be delayed by the update.
  void SetAlarm() {
    waiting_ = Waiting::kForTurn;
    // alarm_hold_ keeps this object alive while the alarm is pending. The
    // closure must not capture a shared_ptr: this object owns the alarm, and
    // the alarm owns the closure, so nothing would ever be deleted.
    alarm_hold_ = self_;
    alarm_.Set(gpr_time_add(last_update_, gpr_time_from_millis(kLeastIntervalMs,
                                                               GPR_TIMESPAN)),
               [this](bool due) { OnAlarm(due); });
  }

  void OnAlarm(bool due) {
    // keeps this object alive until `lock` has been released
    std::shared_ptr<WatchStream> hold;
    std::lock_guard<std::mutex> lock(mutex_);
    hold = std::move(alarm_hold_);
    if (due && !ended_) Update();
  }

  // Writes an update: the decisions since the last one and the job's state.
  // Requires mutex_.
  void Update() {
    absl::StatusOr<JobStatus> status = coordinator_->GetJobSummary(run_id_);
    // A finished job is forgotten after Coordinator::Options::keep_finished.
    // After that, GetJobSummary returns NotFound.
    if (!status.ok()) {
      End(ToGrpc(status.status()));
      return;
    }
    last_ = status->phase == JobPhase::kFinished;
    waiting_ = Waiting::kForWrite;
    update_ = std::make_unique<v1::JobUpdate>();
    for (const Decision& decision : decisions_) {
      ToWire(decision, update_->add_decisions());
    }
    decisions_.clear();
    update_->set_decisions_dropped(std::exchange(dropped_, 0));
    ToWire(*status, update_->mutable_status());
    update_->mutable_cursor()->set_epoch(cursor_.epoch);
    update_->mutable_cursor()->set_count(cursor_.count);
    last_update_ = gpr_now(GPR_CLOCK_MONOTONIC);
    StartWrite(update_.get());
  }

  // Ends the stream with `status`, if it has not ended yet. Requires mutex_.
  void End(const grpc::Status& status) {
    if (std::exchange(ended_, true)) return;
    Finish(status);
  }

  Coordinator* const coordinator_;
  const std::string run_id_;
  std::shared_ptr<WatchStream> self_;
  std::optional<Coordinator::WatchId> watch_;

  std::mutex mutex_;
  Waiting waiting_ = Waiting::kForTurn;
  bool ended_ = false;
  bool last_ = false;
  // The newest decision that has been written or is in `decisions_`.
  DecisionCursor cursor_;
  std::deque<Decision> decisions_;  // decisions to send to the client
  int dropped_ = 0;
  std::unique_ptr<v1::JobUpdate> update_;  // the update that is being written
  gpr_timespec last_update_;
  // Keeps this object alive while the alarm is pending.
  std::shared_ptr<WatchStream> alarm_hold_;
  grpc::Alarm alarm_;
};

}  // namespace

grpc::ServerWriteReactor<v1::JobUpdate>* StartWatchStream(
    Coordinator* coordinator, const std::string& run_id,
    const DecisionCursor& after) {
  auto stream = std::make_shared<WatchStream>(coordinator, run_id, after);
  stream->Start(stream);
  return stream.get();
}

namespace {

template <typename Message>
class TurnedAway : public grpc::ServerWriteReactor<Message> {
 public:
  explicit TurnedAway(const grpc::Status& status) { this->Finish(status); }
  void OnDone() override { delete this; }
};

// Sends one operator the nodes' answers to the operator's inquiry, that is, to
// a question to the nodes (`launch logs`, `launch stacks`).
class InquiryStream : public grpc::ServerWriteReactor<v1::InquiryUpdate> {
 public:
  InquiryStream(Coordinator* coordinator, std::string run_id)
      : coordinator_(coordinator), run_id_(std::move(run_id)) {}

  // `self` keeps the stream alive until gRPC calls OnDone. Returns the error if
  // the inquiry cannot be opened; the stream must then not be used.
  absl::Status Start(const std::shared_ptr<InquiryStream>& self,
                     Inquiry question, const std::string& node) {
    follows_ = question.follow == Inquiry::Follow::kYes;
    session_ = std::make_shared<InquirySession>(
        std::move(question), [weak = std::weak_ptr<InquiryStream>(self)] {
          const std::shared_ptr<InquiryStream> stream = weak.lock();
          if (stream != nullptr) stream->Write();
        });
    const absl::Status opened = coordinator_->Inquire(run_id_, node, session_);
    if (!opened.ok()) {
      coordinator_->EndInquiry(run_id_, session_);
      return opened;
    }
    if (follows_) LookUpStandbys();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      self_ = self;
      opened_ = true;
    }
    Write();
    return absl::OkStatus();
  }

  void OnWriteDone(bool ok) override {
    if (follows_) LookUpStandbys();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      update_.reset();
      if (!ok) End(grpc::Status::OK);
    }
    Write();
  }

  void OnCancel() override {
    std::lock_guard<std::mutex> lock(mutex_);
    End(grpc::Status::CANCELLED);
  }

  void OnDone() override {
    coordinator_->EndInquiry(run_id_, session_);
    const std::shared_ptr<InquiryStream> last = std::move(self_);
  }

 private:
  // Writes the next update, if there is one and no write is in progress.
  void Write() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!opened_ || ended_ || update_ != nullptr) return;
    std::optional<InquiryUpdate> next;
    if (follows_ && !std::exchange(greeted_, true)) {
      // If the operator reads the output as it arrives (`launch logs -f`), send
      // a first update at once. This update shows that the inquiry is open, and
      // names the standbys that the operator can ask if this coordinator is
      // lost.
      next.emplace();
    } else {
      next = session_->Next();
    }
    if (next.has_value()) {
      if (follows_ && std::exchange(has_other_standbys_, false)) {
        next->standbys = standbys_;
      }
      update_ = std::make_unique<v1::InquiryUpdate>();
      ToWire(*next, update_.get());
      StartWrite(update_.get());
    } else if (session_->IsOver()) {
      End(grpc::Status::OK);
    }
  }

  // Looks up the job's standbys for the next update. This takes the job's lock,
  // so the caller must not hold that lock.
  void LookUpStandbys() {
    std::vector<std::string> now = coordinator_->StandbysOf(run_id_);
    std::lock_guard<std::mutex> lock(mutex_);
    if (standbys_ == now) return;
    standbys_ = std::move(now);
    has_other_standbys_ = true;
  }

  // Ends the stream with `status`, if it has not ended yet. Requires mutex_.
  void End(const grpc::Status& status) {
    if (std::exchange(ended_, true)) return;
    Finish(status);
  }

  Coordinator* const coordinator_;
  const std::string run_id_;
  std::shared_ptr<InquirySession> session_;
  bool follows_ = false;

  std::mutex mutex_;  // guards the fields below
  std::shared_ptr<InquiryStream> self_;
  bool opened_ = false;
  bool ended_ = false;
  // Whether the first update was written; used only if the operator follows the
  // output.
  bool greeted_ = false;
  std::vector<std::string> standbys_;
  // Whether the next update must contain `standbys_`; used only if the operator
  // follows the output.
  bool has_other_standbys_ = false;
  // the update that is being written; null: none
  std::unique_ptr<v1::InquiryUpdate> update_;
};

// Checks a name in an operator's request. Limits its length, since error
// messages repeat it.
absl::Status CheckName(const char* field, const std::string& name) {
  BoundedReader reader("request");
  std::string unused;
  reader.Text(field, name, kMaxNameBytes, TextKind::kName, &unused);
  return reader.status();
}

// Returns `status` without the names of jobs that `principal` may not see. (A
// NotFound error lists the existing jobs.)
absl::Status WithoutOthers(const absl::Status& status,
                           const Principal& principal) {
  return principal.jobs.empty() || !absl::IsNotFound(status)
             ? status
             : absl::NotFoundError("no such job");
}

// Appends the caller's verified name to the reason in the caller's request.
std::string WithPrincipal(const std::string& reason,
                          const Principal& principal) {
  return principal.name.empty() ? reason
                                : absl::StrCat(reason, ", as ", principal.name);
}

// The base classes of AdminService. InquiryMethods and MessageMethods have the
// RPCs that return protobuf messages. AdminMethods adds ListJobs and GetJob,
// which return serialised bytes that several callers share (AnswerCache).
using InquiryMethods = v1::Admin::WithCallbackMethod_ReadLogs<
    v1::Admin::WithCallbackMethod_TakeStacks<v1::Admin::Service>>;
using MessageMethods = v1::Admin::WithCallbackMethod_WatchJob<
    v1::Admin::WithCallbackMethod_CancelJob<
        v1::Admin::WithCallbackMethod_DrainNode<
            v1::Admin::WithCallbackMethod_ListNodes<
                v1::Admin::WithCallbackMethod_JudgeNode<
                    v1::Admin::WithCallbackMethod_WhoAmI<InquiryMethods>>>>>>;
using InquiryReactor = grpc::ServerWriteReactor<v1::InquiryUpdate>;
using AdminMethods = v1::Admin::WithRawCallbackMethod_ListJobs<
    v1::Admin::WithRawCallbackMethod_GetJob<MessageMethods>>;

class AdminService : public AdminMethods {
 public:
  AdminService(Coordinator* coordinator, const CallerCheck* check,
               ConnectionEvents* connections)
      : coordinator_(coordinator), check_(check), connections_(connections) {}

  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer*,
                                     grpc::ByteBuffer* response) override {
    const absl::StatusOr<Principal> principal = Identify(*context);
    if (!principal.ok()) return Answer(context, principal.status());
    absl::Status allowed = CheckRole(*principal, Role::kView);
    if (allowed.ok()) allowed = CheckCoordinates(context);
    if (!allowed.ok()) return Answer(context, allowed);
    const auto make = [&](grpc::ByteBuffer* made) {
      v1::ListJobsResponse jobs;
      for (const JobStatus& one : coordinator_->ListJobs()) {
        if (IncludesJob(*principal, one.run_id)) ToWire(one, jobs.add_jobs());
      }
      return Serialize(jobs, made);
    };
    return Answer(
        context,
        AnswerFromCache(
            absl::StrCat("jobs ", absl::StrJoin(principal->jobs, "\n")),
            response, make));
  }

  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* bytes,
                                   grpc::ByteBuffer* response) override {
    v1::GetJobRequest request;
    const grpc::Status parsed = Parse(*bytes, &request);
    if (!parsed.ok()) return Answer(context, parsed);
    const absl::StatusOr<Principal> caller =
        Check(context, Role::kView, request.run_id());
    if (!caller.ok()) return Answer(context, caller.status());
    const auto make = [&](grpc::ByteBuffer* made) {
      const auto job = coordinator_->GetJob(request.run_id());
      if (!job.ok()) return ToGrpc(WithoutOthers(job.status(), *caller));
      v1::JobStatus wire;
      ToWire(*job, &wire);
      return Serialize(wire, made);
    };
    return Answer(context,
                  AnswerFromCache("job " + request.run_id(), response, make));
  }

  grpc::ServerWriteReactor<v1::JobUpdate>* WatchJob(
      grpc::CallbackServerContext* context,
      const v1::WatchJobRequest* request) override {
    const absl::StatusOr<Principal> caller =
        Check(context, Role::kView, request->run_id());
    using Refused = TurnedAway<v1::JobUpdate>;
    if (!caller.ok()) return new Refused(ToGrpc(caller.status()));
    const absl::Status exists = WithoutOthers(
        coordinator_->GetJobSummary(request->run_id()).status(), *caller);
    if (!exists.ok()) return new Refused(ToGrpc(exists));
    return StartWatchStream(
        coordinator_, request->run_id(),
        {.epoch = request->after().epoch(), .count = request->after().count()});
  }

  grpc::ServerUnaryReactor* CancelJob(grpc::CallbackServerContext* context,
                                      const v1::CancelJobRequest* request,
                                      v1::CancelJobResponse*) override {
    const absl::StatusOr<Principal> caller =
        Check(context, Role::kOperate, request->run_id());
    absl::Status status = caller.status();
    if (status.ok()) status = CheckName("reason", request->reason());
    if (status.ok()) {
      status = WithoutOthers(
          coordinator_->CancelJob(request->run_id(),
                                  WithPrincipal(request->reason(), *caller)),
          *caller);
    }
    return Answer(context, status);
  }

  grpc::ServerUnaryReactor* DrainNode(grpc::CallbackServerContext* context,
                                      const v1::DrainNodeRequest* request,
                                      v1::DrainNodeResponse*) override {
    const absl::StatusOr<Principal> caller =
        Check(context, Role::kOperate, request->run_id());
    absl::Status status = caller.status();
    if (status.ok()) status = CheckName("node", request->node());
    if (status.ok()) {
      status =
          WithoutOthers(coordinator_->DrainNode(request->run_id(),
                                                request->node(), caller->name),
                        *caller);
    }
    return Answer(context, status);
  }

  grpc::ServerUnaryReactor* ListNodes(
      grpc::CallbackServerContext* context, const v1::ListNodesRequest*,
      v1::ListNodesResponse* response) override {
    const absl::StatusOr<Principal> caller =
        CheckForAllJobs(context, Role::kView);
    if (caller.ok()) {
      for (const HostStatus& host : coordinator_->ListHosts()) {
        ToWire(host, response->add_nodes());
      }
    }
    return Answer(context, caller.status());
  }

  grpc::ServerUnaryReactor* JudgeNode(grpc::CallbackServerContext* context,
                                      const v1::JudgeNodeRequest* request,
                                      v1::JudgeNodeResponse*) override {
    const absl::StatusOr<Principal> caller =
        CheckForAllJobs(context, Role::kOperate);
    absl::Status status = caller.status();
    if (status.ok()) status = CheckName("host", request->host());
    if (status.ok() && request->host().empty()) {
      status = absl::InvalidArgumentError("the request names no host");
    }
    if (status.ok()) status = CheckName("reason", request->reason());
    if (!status.ok()) return Answer(context, status);
    switch (request->order()) {
      case v1::JudgeNodeRequest::FREE:
        status = coordinator_->FreeHost(request->host(), caller->name);
        break;
      case v1::JudgeNodeRequest::BAN:
        status = coordinator_->BanHost(
            request->host(), WithPrincipal(request->reason(), *caller));
        break;
      default:
        status = absl::InvalidArgumentError("the request has no order");
    }
    return Answer(context, status);
  }

  InquiryReactor* ReadLogs(grpc::CallbackServerContext* context,
                           const v1::InquiryRequest* request) override {
    return Inquire(context, Role::kView, Inquiry::Kind::kLogs, *request);
  }

  // Requires the role kOperate: taking stacks costs processor time on the
  // nodes. Taking native frames also stops the workers for a moment.
  InquiryReactor* TakeStacks(grpc::CallbackServerContext* context,
                             const v1::InquiryRequest* request) override {
    return Inquire(context, Role::kOperate, Inquiry::Kind::kStacks, *request);
  }

  grpc::ServerUnaryReactor* WhoAmI(grpc::CallbackServerContext* context,
                                   const v1::WhoAmIRequest*,
                                   v1::WhoAmIResponse* response) override {
    const absl::StatusOr<Principal> caller = Identify(*context);
    if (caller.ok()) {
      response->set_address(PeerIp(context->peer()));
      response->set_unix_time(
          std::chrono::nanoseconds(
              std::chrono::system_clock::now().time_since_epoch())
              .count());
      response->set_version(kVersion);
    }
    return Answer(context, caller.status());
  }

 private:
  InquiryReactor* Inquire(grpc::CallbackServerContext* context, Role role,
                          Inquiry::Kind kind,
                          const v1::InquiryRequest& request) {
    const absl::StatusOr<Principal> caller =
        Check(context, role, request.run_id());
    absl::Status status = caller.status();
    if (status.ok()) status = CheckName("node", request.node());
    Inquiry question;
    if (status.ok()) {
      BoundedReader reader("request");
      FromWire(request.question(), &reader, &question);
      status = reader.status();
      question.kind = kind;
      if (kind == Inquiry::Kind::kStacks) {
        question.follow = Inquiry::Follow::kNo;
      }
    }
    using Refused = TurnedAway<v1::InquiryUpdate>;
    if (!status.ok()) return new Refused(ToGrpc(status));
    auto stream =
        std::make_shared<InquiryStream>(coordinator_, request.run_id());
    const absl::Status opened =
        stream->Start(stream, std::move(question), request.node());
    if (opened.ok()) return stream.get();
    return new Refused(ToGrpc(WithoutOthers(opened, *caller)));
  }

  static grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                          const grpc::Status& status) {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(status);
    return reactor;
  }
  static grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                          const absl::Status& status) {
    return Answer(context, ToGrpc(status));
  }

  absl::StatusOr<Principal> Identify(
      const grpc::CallbackServerContext& context) const {
    absl::StatusOr<Principal> principal = check_->Identify(context);
    if (principal.ok()) connections_->Proved(context.peer());
    return principal;
  }

  // Returns the caller's principal if it has `role` for the job. Errors: those
  // of Identify, CheckName, CheckAccess and CheckCoordinates.
  absl::StatusOr<Principal> Check(grpc::CallbackServerContext* context,
                                  Role role, const std::string& run_id) const {
    absl::StatusOr<Principal> principal = Identify(*context);
    if (!principal.ok()) return principal;
    absl::Status allowed = CheckName("run_id", run_id);
    if (allowed.ok()) allowed = CheckAccess(*principal, role, run_id);
    if (allowed.ok()) allowed = CheckCoordinates(context);
    if (!allowed.ok()) return allowed;
    return principal;
  }

  // Returns the caller's principal if it has `role` for every job of this
  // coordinator. Used for requests about machines, whose state concerns all
  // jobs. Errors: those of Identify, CheckRole and CheckCoordinates;
  // PermissionDenied: the caller's roles are valid for some of the jobs only.
  absl::StatusOr<Principal> CheckForAllJobs(
      grpc::CallbackServerContext* context, Role role) const {
    absl::StatusOr<Principal> principal = Identify(*context);
    if (!principal.ok()) return principal;
    absl::Status allowed = CheckRole(*principal, role);
    const std::string& only_job = coordinator_->only_run_id();
    if (allowed.ok() && !principal->jobs.empty() &&
        (only_job.empty() || !IncludesJob(*principal, only_job))) {
      allowed = absl::PermissionDeniedError(absl::StrCat(
          "nodes are judged for all jobs of this coordinator, and ",
          principal->name.empty() ? "the caller" : principal->name,
          " has rights for some of them only"));
    }
    if (allowed.ok()) allowed = CheckCoordinates(context);
    if (!allowed.ok()) return allowed;
    return principal;
  }

  // Checks that this process coordinates its job. FailedPrecondition,
  // Unavailable: this process is only a standby; the answer's trailer
  // kCoordinatedAt contains the coordinator's endpoint, if it is known.
  absl::Status CheckCoordinates(grpc::CallbackServerContext* context) const {
    const auto elsewhere = coordinator_->WhereElse();
    if (!elsewhere.has_value()) return absl::OkStatus();
    context->AddTrailingMetadata(kCoordinatedAt, elsewhere->endpoint);
    return elsewhere->why;
  }

  template <typename Message>
  static grpc::Status Serialize(const Message& message,
                                grpc::ByteBuffer* bytes) {
    bool own_buffer;
    return grpc::SerializationTraits<Message>::Serialize(message, bytes,
                                                         &own_buffer);
  }

  template <typename Message>
  static grpc::Status Parse(grpc::ByteBuffer bytes, Message* message) {
    return grpc::SerializationTraits<Message>::Deserialize(&bytes, message);
  }

  // Answers `question` with cached bytes, or else with the bytes that `make`
  // returns. Only one answer is made at a time, so that simultaneous callers
  // share it.
  template <typename Make>
  grpc::Status AnswerFromCache(const std::string& question,
                               grpc::ByteBuffer* response, const Make& make) {
    std::lock_guard<std::mutex> lock(making_);
    const Instant began = MonotonicNow();
    std::optional<grpc::ByteBuffer> kept = answers_.Find(began, question);
    if (kept.has_value()) {
      *response = *std::move(kept);
      return grpc::Status::OK;
    }
    const grpc::Status made = make(response);
    const Instant now = MonotonicNow();
    if (made.ok()) answers_.Keep(now, question, *response, now - began);
    return made;
  }

  muster::rendezvous::Coordinator* const coordinator_;
  const CallerCheck* const check_;
  ConnectionEvents* const connections_;

  // Held while the answer to a request is looked up in answers_ or computed;
  // guards answers_.
  std::mutex making_;
  AnswerCache<grpc::ByteBuffer> answers_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeAdminService(Coordinator* coordinator,
                                                const CallerCheck* check,
                                                ConnectionEvents* connections) {
  return std::make_unique<AdminService>(coordinator, check, connections);
}

}  // namespace muster::rendezvous
