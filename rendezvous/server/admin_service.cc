#include "rendezvous/server/admin_service.h"

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <chrono>
#include <string>

#include "proto/admin.grpc.pb.h"
#include "rendezvous/grpc/grpc_status.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/server/peer_ip.h"
#include "rendezvous/server/watch_stream.h"
#include "rendezvous/version.h"
#include "rendezvous/wire/bounded_reader.h"
#include "rendezvous/wire/bounds.h"
#include "rendezvous/wire/status_wire.h"

namespace muster::rendezvous {
namespace {

class TurnedAway : public grpc::ServerWriteReactor<v1::JobUpdate> {
 public:
  explicit TurnedAway(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

// Checks a name from an operator's request. Bounded, since errors repeat the
// name.
grpc::Status CheckName(const char* field, const std::string& name) {
  BoundedReader reader("request");
  std::string unused;
  reader.Text(field, name, kMaxNameBytes, TextKind::kName, &unused);
  return ToGrpc(reader.status());
}

class AdminService : public v1::Admin::CallbackService {
 public:
  AdminService(Coordinator* coordinator, const CallerCheck* check)
      : coordinator_(coordinator), check_(check) {}

  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const v1::ListJobsRequest*,
                                     v1::ListJobsResponse* response) override {
    const grpc::Status allowed = check_->Check(*context);
    if (allowed.ok()) {
      for (const JobStatus& status : coordinator_->ListJobs()) {
        ToWire(status, response->add_jobs());
      }
    }
    return Answer(context, allowed);
  }

  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::GetJobRequest* request,
                                   v1::JobStatus* response) override {
    grpc::Status allowed = Check(*context, request->run_id());
    if (!allowed.ok()) return Answer(context, allowed);
    const auto status = coordinator_->GetJob(request->run_id());
    if (status.ok()) ToWire(*status, response);
    return Answer(context, ToGrpc(status.status()));
  }

  grpc::ServerWriteReactor<v1::JobUpdate>* WatchJob(
      grpc::CallbackServerContext* context,
      const v1::WatchJobRequest* request) override {
    const grpc::Status allowed = Check(*context, request->run_id());
    if (!allowed.ok()) return new TurnedAway(allowed);
    return StartWatchStream(coordinator_, request->run_id());
  }

  grpc::ServerUnaryReactor* CancelJob(grpc::CallbackServerContext* context,
                                      const v1::CancelJobRequest* request,
                                      v1::CancelJobResponse*) override {
    grpc::Status allowed = Check(*context, request->run_id());
    if (allowed.ok()) allowed = CheckName("reason", request->reason());
    if (!allowed.ok()) return Answer(context, allowed);
    return Answer(context, ToGrpc(coordinator_->CancelJob(request->run_id(),
                                                          request->reason())));
  }

  grpc::ServerUnaryReactor* DrainNode(grpc::CallbackServerContext* context,
                                      const v1::DrainNodeRequest* request,
                                      v1::DrainNodeResponse*) override {
    grpc::Status allowed = Check(*context, request->run_id());
    if (allowed.ok()) allowed = CheckName("node", request->node());
    if (!allowed.ok()) return Answer(context, allowed);
    return Answer(context, ToGrpc(coordinator_->DrainNode(request->run_id(),
                                                          request->node())));
  }

  grpc::ServerUnaryReactor* WhoAmI(grpc::CallbackServerContext* context,
                                   const v1::WhoAmIRequest*,
                                   v1::WhoAmIResponse* response) override {
    const grpc::Status allowed = check_->Check(*context);
    if (allowed.ok()) {
      response->set_address(PeerIp(context->peer()));
      response->set_unix_time(
          std::chrono::nanoseconds(
              std::chrono::system_clock::now().time_since_epoch())
              .count());
      response->set_version(kVersion);
    }
    return Answer(context, allowed);
  }

 private:
  static grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                          const grpc::Status& status) {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(status);
    return reactor;
  }

  grpc::Status Check(const grpc::CallbackServerContext& context,
                     const std::string& run_id) const {
    const grpc::Status allowed = check_->Check(context);
    return allowed.ok() ? CheckName("run_id", run_id) : allowed;
  }

  muster::rendezvous::Coordinator* const coordinator_;
  const CallerCheck* const check_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeAdminService(Coordinator* coordinator,
                                                const CallerCheck* check) {
  return std::make_unique<AdminService>(coordinator, check);
}

}  // namespace muster::rendezvous
