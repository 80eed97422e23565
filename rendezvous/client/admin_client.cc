#include "rendezvous/client/admin_client.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/poll.h"
#include "proto/admin.grpc.pb.h"
#include "rendezvous/client/channel.h"
#include "rendezvous/client/dialer.h"
#include "rendezvous/client/output_cursor.h"
#include "rendezvous/grpc/grpc_setup.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/wire/bounded_reader.h"
#include "rendezvous/wire/inquiry_wire.h"
#include "rendezvous/wire/memory_wire.h"
#include "rendezvous/wire/status_wire.h"

namespace muster::rendezvous {

namespace {

// How long a call is repeated while another coordinator may be taking over.
// With rendezvousd's default options a takeover takes less time.
constexpr Duration kTakeover = std::chrono::seconds(5);
constexpr Duration kPause = std::chrono::milliseconds(100);
// Maximum number of machines that are accepted in one answer. A coordinator
// remembers at most NodeMemory::kMaxHosts machines, which are fewer.
constexpr int kMaxListedHosts = 4096;

}  // namespace

class AdminClient::Impl {
 public:
  explicit Impl(Options options)
      : options_(std::move(options)),
        dialer_(options_.endpoints, options_.tls, options_.token) {}

  // Makes `call` at each address of the coordinator in turn until one answers.
  // If another coordinator may be taking over (there are several endpoints, or
  // a standby answered), repeats the attempts for `repeated_for`.
  template <typename Call>
  absl::Status OnFirstReached(const Call& call,
                              Duration repeated_for = kTakeover) {
    const Instant until = MonotonicNow() + repeated_for;
    while (true) {
      // The HOST:PORT of the coordinator that a standby has named. Empty: the
      // standby does not know the coordinator. nullopt: no standby has
      // answered.
      std::optional<std::string> named;
      absl::Status status = TryOnce(&dialer_, call, &named);
      const absl::StatusOr<Endpoint> there = ParseEndpoint(named.value_or(""));
      if (there.ok()) {
        Dialer dialer({*there}, options_.tls, options_.token);
        std::optional<std::string> unused;
        status = TryOnce(&dialer, call, &unused);
      }
      if (named.has_value()) met_standby_ = true;
      if (!absl::IsUnavailable(status) || !may_move() ||
          MonotonicNow() >= until) {
        return status;
      }
      PauseUntil(MonotonicNow() + kPause);
    }
  }

  // Makes `call` at each address that `dialer` finds, until one answers. Sets
  // `named` to the coordinator's HOST:PORT if a standby answers.
  template <typename Call>
  absl::Status TryOnce(Dialer* dialer, const Call& call,
                       std::optional<std::string>* named) {
    return dialer->Dial(
        {.timeout = options_.timeout},
        [&](const Endpoint& endpoint, const SocketAddress& address,
            const std::shared_ptr<grpc::Channel>& channel) -> Dialer::Outcome {
          const auto stub = v1::Admin::NewStub(channel);
          grpc::ClientContext context;
          AddToken(&context);
          const absl::Status status =
              FromGrpc(call(stub.get(), &context, endpoint));
          if (status.ok()) {
            Keep(channel);
            return {.answered = true};
          }
          const auto& trailers = context.GetServerTrailingMetadata();
          if (const auto it = trailers.find(kCoordinatedAt);
              it != trailers.end()) {
            *named = std::string(it->second.data(), it->second.size());
            return {.answered = true, .end = status};
          }
          // The status Unimplemented may come from another gRPC server, such as
          // etcd. So this status does not count as a coordinator's answer.
          return {.answered = !absl::IsUnavailable(status) &&
                              !absl::IsUnimplemented(status),
                  .end = WithTlsReason(
                      ExplainCallError(status, endpoint.ToString()), endpoint,
                      address, options_.tls, options_.token)};
        });
  }

  // The progress of one call of Follow, over all streams that it opens to
  // successive coordinators.
  class Stream {
   public:
    // Records that the coordinator at `endpoint` has sent an update. If this is
    // the first update after the loss of a coordinator, returns the endpoint
    // and the duration of the interruption; else nullopt.
    std::optional<Reconnected> Heard(const Endpoint& endpoint) {
      heard_ = true;
      if (!lost_.has_value()) return std::nullopt;
      const Duration after = MonotonicNow() - *std::exchange(lost_, {});
      return Reconnected{.endpoint = endpoint.ToString(), .after = after};
    }

    // The time at which the coordinator was lost. nullopt: the coordinator is
    // connected, or none has been connected so far.
    std::optional<Instant> lost() const { return lost_; }

   private:
    friend class Impl;
    bool heard_ = false;  // whether the present stream has brought an update
    std::optional<Instant> lost_;
  };

  // Follows a stream of updates, which the function `open` opens at the first
  // endpoint that answers. If the coordinator is lost, looks for the next
  // coordinator for at most Options::reconnect_timeout, and opens a stream
  // there. `open` must call Stream::Heard for each update. Cancelled: a stop
  // was requested between two attempts.
  template <typename Open>
  absl::Status Follow(const Open& open, const std::stop_token& stop = {}) {
    Stream stream;
    while (!stop.stop_requested()) {
      const absl::Status status = OnFirstReached(
          [&](v1::Admin::Stub* stub, grpc::ClientContext* context,
              const Endpoint& endpoint) {
            // OnFirstReached calls this function again for each stream that it
            // tries to open. No update has come on the new stream yet.
            stream.heard_ = false;
            const grpc::Status end = open(&stream, stub, context, endpoint);
            if (stream.heard_ && absl::IsUnavailable(FromGrpc(end))) {
              stream.lost_ = MonotonicNow();
            }
            return end;
          },
          stream.lost_.has_value() ? Duration::zero() : kTakeover);
      const Instant now = MonotonicNow();
      // After the loss of a coordinator, retry even after errors such as
      // NotFound: a new coordinator may not know the job, its nodes or its
      // workers yet.
      if (status.ok() || !stream.lost_.has_value() ||
          absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status)) {
        return status;
      }
      if (now - *stream.lost_ >= options_.reconnect_timeout) {
        return absl::UnavailableError(absl::StrCat(
            "the coordinator was lost, and none was found within ",
            ToSeconds(options_.reconnect_timeout), " s: ", status.message()));
      }
      PauseUntil(now + kPause);
    }
    return absl::CancelledError("stopped");
  }

  // Records the endpoints at which the job's next coordinator may be.
  void SetStandbys(const std::vector<std::string>& standbys) {
    std::vector<Endpoint> endpoints;
    for (const std::string& standby : standbys) {
      const absl::StatusOr<Endpoint> endpoint = ParseEndpoint(standby);
      if (endpoint.ok()) endpoints.push_back(*endpoint);
    }
    if (!endpoints.empty()) dialer_.SetStandbys(std::move(endpoints));
  }

  // Whether another endpoint may become the job's coordinator later.
  bool may_move() const {
    return options_.endpoints.size() > 1 || met_standby_;
  }

  // Makes a unary call: on the connection on which the last call succeeded, if
  // it still works, else as OnFirstReached does.
  template <typename Method, typename Request, typename Response>
  absl::Status Ask(Method method, const Request& request, Response* response) {
    const auto call = [&](v1::Admin::Stub* stub, grpc::ClientContext* context,
                          const Endpoint&) {
      context->set_deadline(
          std::chrono::system_clock::now() +
          std::chrono::duration_cast<std::chrono::system_clock::duration>(
              options_.timeout));
      return (stub->*method)(context, request, response);
    };
    if (const std::shared_ptr<grpc::Channel> kept = Keep(nullptr)) {
      grpc::ClientContext context;
      AddToken(&context);
      const auto stub = v1::Admin::NewStub(kept);
      if (FromGrpc(call(stub.get(), &context, Endpoint())).ok()) {
        Keep(kept);
        return absl::OkStatus();
      }
    }
    return OnFirstReached(call);
  }

 private:
  void AddToken(grpc::ClientContext* context) const {
    const std::string bearer = BearerToken(options_.tls, options_.token);
    if (!bearer.empty()) {
      context->AddMetadata(kAuthorization, absl::StrCat(kBearer, bearer));
    }
  }

  // Replaces the channel that Ask tries first; null: none. Returns the earlier
  // one.
  std::shared_ptr<grpc::Channel> Keep(std::shared_ptr<grpc::Channel> channel) {
    const std::lock_guard<std::mutex> lock(mutex_);
    kept_.swap(channel);
    return channel;
  }

  const Options options_;
  Dialer dialer_;
  std::atomic<bool> met_standby_ = false;
  std::mutex mutex_;
  std::shared_ptr<grpc::Channel> kept_;  // guarded by mutex_
};

AdminClient::AdminClient(Options options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

AdminClient::~AdminClient() = default;

absl::StatusOr<std::vector<JobStatus>> AdminClient::ListJobs() {
  v1::ListJobsResponse response;
  absl::Status status =
      impl_->Ask(&v1::Admin::Stub::ListJobs, v1::ListJobsRequest(), &response);
  if (!status.ok()) return status;
  if (response.jobs_size() > kMaxListedJobs) {
    return absl::InvalidArgumentError("the coordinator lists too many jobs");
  }
  std::vector<JobStatus> jobs(response.jobs_size());
  for (int i = 0; i < response.jobs_size(); ++i) {
    status = FromWire(response.jobs(i), &jobs[i]);
    if (!status.ok()) return status;
  }
  return jobs;
}

absl::StatusOr<JobStatus> AdminClient::GetJob(const std::string& run_id) {
  v1::GetJobRequest request;
  request.set_run_id(run_id);
  v1::JobStatus response;
  absl::Status status =
      impl_->Ask(&v1::Admin::Stub::GetJob, request, &response);
  if (!status.ok()) return status;
  JobStatus job;
  status = FromWire(response, &job);
  if (!status.ok()) return status;
  impl_->SetStandbys(job.standbys);
  return job;
}

absl::Status AdminClient::CancelJob(const std::string& run_id,
                                    const std::string& reason) {
  v1::CancelJobRequest request;
  request.set_run_id(run_id);
  request.set_reason(reason);
  v1::CancelJobResponse response;
  return impl_->Ask(&v1::Admin::Stub::CancelJob, request, &response);
}

absl::Status AdminClient::DrainNode(const std::string& run_id,
                                    const std::string& node) {
  v1::DrainNodeRequest request;
  request.set_run_id(run_id);
  request.set_node(node);
  v1::DrainNodeResponse response;
  return impl_->Ask(&v1::Admin::Stub::DrainNode, request, &response);
}

absl::StatusOr<std::vector<HostStatus>> AdminClient::ListNodes() {
  v1::ListNodesResponse response;
  absl::Status status = impl_->Ask(&v1::Admin::Stub::ListNodes,
                                   v1::ListNodesRequest(), &response);
  if (!status.ok()) return status;
  if (response.nodes_size() > kMaxListedHosts) {
    return absl::InvalidArgumentError("the coordinator lists too many nodes");
  }
  std::vector<HostStatus> nodes(response.nodes_size());
  for (int i = 0; i < response.nodes_size(); ++i) {
    status = FromWire(response.nodes(i), &nodes[i]);
    if (!status.ok()) return status;
  }
  return nodes;
}

absl::Status AdminClient::FreeNode(const std::string& host) {
  v1::JudgeNodeRequest request;
  request.set_host(host);
  request.set_order(v1::JudgeNodeRequest::FREE);
  v1::JudgeNodeResponse response;
  return impl_->Ask(&v1::Admin::Stub::JudgeNode, request, &response);
}

absl::Status AdminClient::BanNode(const std::string& host,
                                  const std::string& reason) {
  v1::JudgeNodeRequest request;
  request.set_host(host);
  request.set_order(v1::JudgeNodeRequest::BAN);
  request.set_reason(reason);
  v1::JudgeNodeResponse response;
  return impl_->Ask(&v1::Admin::Stub::JudgeNode, request, &response);
}

absl::StatusOr<AdminClient::Caller> AdminClient::WhoAmI() {
  using Wall = std::chrono::system_clock;
  v1::WhoAmIResponse response;
  const Wall::time_point asked = Wall::now();
  absl::Status status =
      impl_->Ask(&v1::Admin::Stub::WhoAmI, v1::WhoAmIRequest(), &response);
  const Duration took = Wall::now() - asked;
  if (!status.ok()) return status;
  if (response.address().size() > kMaxNameBytes ||
      response.version().size() > kMaxNameBytes) {
    return absl::InvalidArgumentError("the coordinator's answer is too long");
  }
  const Duration there(response.unix_time());
  const Duration here = Duration(asked.time_since_epoch()) + took / 2;
  return Caller{response.address(), response.version(), there - here, took};
}

absl::Status AdminClient::Inquire(
    const std::string& run_id, const std::string& node, const Inquiry& question,
    const std::function<Watching(const InquiryUpdate&)>& on_update,
    const std::function<void(const Reconnected&)>& on_reconnect,
    const std::stop_token& stop) {
  v1::InquiryRequest request;
  request.set_run_id(run_id);
  request.set_node(node);
  ToWire(question, request.mutable_question());
  const bool follows = question.follow == Inquiry::Follow::kYes;
  OutputCursor cursor;
  absl::Status unsound;
  // The error of a stream that broke after its first update. Set only if the
  // operator does not follow the output (Inquiry::follow is kNo). Such a stream
  // is not opened again, because a new stream would repeat answers that the
  // operator has already seen.
  absl::Status broken;
  const auto read = [&](Impl::Stream* stream, v1::Admin::Stub* stub,
                        grpc::ClientContext* context,
                        const Endpoint& endpoint) {
    if (stream->lost().has_value()) {
      request.clear_question();
      ToWire(cursor.RestOf(question, MonotonicNow(), *stream->lost()),
             request.mutable_question());
    }
    const auto reader = question.kind == Inquiry::Kind::kLogs
                            ? stub->ReadLogs(context, request)
                            : stub->TakeStacks(context, request);
    const std::stop_callback cancel(stop, [context] { context->TryCancel(); });
    v1::InquiryUpdate wire;
    bool heard = false;
    bool enough = false;
    while (!enough && reader->Read(&wire)) {
      heard = true;
      InquiryUpdate update;
      unsound = FromWire(wire, &update);
      impl_->SetStandbys(update.standbys);
      if (follows) {
        const auto reconnected = stream->Heard(endpoint);
        if (reconnected.has_value() && on_reconnect) on_reconnect(*reconnected);
        cursor.Pass(MonotonicNow(), &update);
      }
      const bool is_greeting = update.node_id.empty() && update.host.empty();
      enough = !unsound.ok() ||
               (!is_greeting && on_update(update) == Watching::kEnough);
    }
    if (enough) context->TryCancel();
    const grpc::Status end = reader->Finish();
    if (enough) return grpc::Status::OK;
    if (!heard || follows || end.ok()) return end;
    broken = absl::UnavailableError(
        absl::StrCat("the coordinator was lost before the end of the answers: ",
                     end.error_message()));
    return grpc::Status::OK;
  };
  const absl::Status status = impl_->Follow(read, stop);
  if (!status.ok()) return status;
  return broken.ok() ? unsound : broken;
}

absl::Status AdminClient::WatchJob(
    const std::string& run_id,
    const std::function<Watching(const Update&)>& on_update) {
  v1::WatchJobRequest request;
  request.set_run_id(run_id);
  absl::Status unsound;
  const auto follow = [&](Impl::Stream* stream, v1::Admin::Stub* stub,
                          grpc::ClientContext* context,
                          const Endpoint& endpoint) {
    const auto reader = stub->WatchJob(context, request);
    v1::JobUpdate wire;
    bool enough = false;
    while (!enough && reader->Read(&wire)) {
      Update update;
      update.reconnected = stream->Heard(endpoint);
      update.decisions_dropped = wire.decisions_dropped();
      unsound = FromWire(wire.status(), &update.status);
      for (const v1::Decision& decision : wire.decisions()) {
        if (!unsound.ok()) break;
        unsound = FromWire(decision, &update.decisions.emplace_back());
      }
      impl_->SetStandbys(update.status.standbys);
      *request.mutable_after() = wire.cursor();
      enough = !unsound.ok() || on_update(update) == Watching::kEnough;
    }
    if (enough) context->TryCancel();
    const grpc::Status end = reader->Finish();
    return enough ? grpc::Status::OK : end;
  };
  const absl::Status status = impl_->Follow(follow);
  return status.ok() ? unsound : status;
}

}  // namespace muster::rendezvous
