#include "rendezvous/server/grpc_server.h"

#include <grpcpp/impl/service_type.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/net/resolve.h"
#include "base/owned_fd.h"
#include "base/resource_room.h"
#include "rendezvous/grpc/grpc_setup.h"
#include "rendezvous/protocol/inquiry.h"
#include "rendezvous/server/admin_service.h"
#include "rendezvous/server/attach_service.h"
#include "rendezvous/server/caller_check.h"
#include "rendezvous/server/connection_pool.h"
#include "rendezvous/server/listener.h"
#include "rendezvous/tls/tls_credentials.h"
#include "rendezvous/wire/bounded_reader.h"

namespace muster::rendezvous {
namespace {

constexpr Duration kResolveTimeout = std::chrono::seconds(10);

// Minimum number of free descriptors that a server needs to listen.
constexpr int kToListen = 8;

// Returns an error that explains why the coordinator cannot listen on `listen`.
// `why`: the error of Listener::Listen.
absl::Status WhyNotListening(const Endpoint& listen, const absl::Status& why) {
  const std::string what = absl::StrCat("cannot listen on ", listen.ToString());
  switch (why.code()) {
    case absl::StatusCode::kAlreadyExists:
      return absl::AlreadyExistsError(
          absl::StrCat(what,
                       ": port in use, perhaps by another coordinator; "
                       "choose another port, or join that one"));
    case absl::StatusCode::kPermissionDenied:
      return absl::PermissionDeniedError(
          absl::StrCat(what, ": permission denied; choose a port above 1023"));
    case absl::StatusCode::kInvalidArgument:
      return absl::InvalidArgumentError(
          absl::StrCat(what, ": this host has no such address"));
    case absl::StatusCode::kResourceExhausted: {
      const absl::Status room = CheckRoom({.descriptors = kToListen});
      const absl::Status& cause = room.ok() ? why : room;
      return absl::ResourceExhaustedError(
          absl::StrCat(what, ": ", cause.message()));
    }
    default:
      return absl::UnavailableError(absl::StrCat(what, ": ", why.message()));
  }
}

// Number of descriptors that are reserved for epoll sets, logs, pipes and
// probes, if the process may open at least twice as many.
constexpr int kKeptForOthers = 100;

// gRPC may use this number of bytes of memory for connections and messages:
// kBasicMemory, plus kMemoryPerNode for the stream of each node, for at most
// kMaxNodesWithMemory nodes. kBasicMemory is enough for the largest reports of
// a few hundred simultaneous callers.
constexpr size_t kBasicMemory = 256 << 20;
constexpr size_t kMemoryPerNode = 64 << 10;
constexpr size_t kMaxNodesWithMemory = 32 << 10;

// Maximum number of simultaneous streams on one connection. An agent needs one,
// plus one for each inquiry that it answers. An operator's client needs a few.
constexpr int kMaxStreamsPerConnection = 8 + kMaxInquiries;

void Tune(grpc::ServerBuilder* builder) {
  builder->SetMaxReceiveMessageSize(kMaxReportBytes);
  builder->SetMaxSendMessageSize(kMaxAnswerBytes);
  builder->AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 16 << 10);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                              kMaxStreamsPerConnection);
  builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10'000);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 300'000);
  // Turn off gRPC's bandwidth measurement. Messages are small and do not need
  // it, and the measurement costs a quarter of a core at 10,000 streams.
  builder->AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  // Keepalive pings find connections whose host has died, to free resources.
  // The interval may be long, because lost nodes are detected by their leases.
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  // Agents send a ping each second (KeepAliveOfHosted). Permit this, with room
  // for delays: by default, gRPC would end the streams of clients that ping so
  // often.
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 500);
}

// Minimum numbers of threads and descriptors that gRPC needs. They were found
// by measurement.
constexpr ResourceNeed kNeed = {.threads = 8, .descriptors = 12};

std::shared_ptr<grpc::ServerCredentials> CredentialsOf(
    const GrpcServer::Options& options) {
  if (options.tls.given()) return TlsServer(options.tls);
  if (options.tokens.empty()) return grpc::InsecureServerCredentials();
  return TlsServer(CoordinatorIdentity(options.tokens));
}

}  // namespace

class GrpcServer::Impl {
 public:
  Impl(const Options& options, const ConnectionLimits& limits,
       std::unique_ptr<Listener> listener)
      : options_(options),
        max_nodes_(limits.nodes),
        check_(options.tls.given() ? options.tokens
                                   : std::vector<std::string>()),
        listener_(std::move(listener)),
        address_{options.listen.host, listener_->port()} {}

  absl::Status Serve(Coordinator* coordinator) {
    attach_ = MakeAttachService(
        coordinator, &check_,
        options_.tls.given() ? HostNames::kCompared : HostNames::kAny,
        listener_.get(),
        NodeLimits{.all = max_nodes_,
                   .per_principal = options_.max_nodes_per_principal});
    admin_ = MakeAdminService(coordinator, &check_, listener_.get());
    if (options_.set_up == SetUp::kAtOnce && !SetUpServer()) {
      return WhyNotListening(options_.listen,
                             absl::UnavailableError("gRPC does not start"));
    }
    const absl::Status started =
        listener_->Start([this](int fd) { HandOver(OwnedFd(fd)); });
    return started.ok() ? started : WhyNotListening(options_.listen, started);
  }

  void Shutdown(Duration grace) {
    listener_->Stop();
    if (server_ == nullptr) return;
    server_->Shutdown(
        std::chrono::system_clock::now() +
        std::chrono::duration_cast<std::chrono::system_clock::duration>(grace));
    server_->Wait();
    server_.reset();
  }

  const Endpoint& address() const { return address_; }
  int max_nodes() const { return max_nodes_; }
  absl::Status Check() { return listener_->Check(); }

 private:
  // Sets up gRPC. Returns whether that succeeded.
  bool SetUpServer() {
    SetUpGrpc();
    grpc::ServerBuilder builder;
    using Builder = grpc::ServerBuilder::experimental_type;
    acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
        Builder::ExternalConnectionType::FROM_FD, CredentialsOf(options_));
    builder.RegisterService(attach_.get());
    builder.RegisterService(admin_.get());
    Tune(&builder);
    grpc::ResourceQuota quota("coordinator");
    quota.Resize(kBasicMemory +
                 kMemoryPerNode *
                     std::min<size_t>(max_nodes_, kMaxNodesWithMemory));
    builder.SetResourceQuota(quota);
    server_ = builder.BuildAndStart();
    return server_ != nullptr;
  }

  // Hands a connection over to gRPC. Called from the listener's thread.
  void HandOver(OwnedFd fd) {
    // gRPC would abort the process if it could not start its threads. So check
    // before the set-up that enough threads and descriptors are left.
    const bool serves =
        server_ != nullptr || (CheckRoom(kNeed).ok() && SetUpServer());
    if (!serves) return;
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters
        connection;
    connection.fd = fd.Release();
    acceptor_->HandleNewConnection(&connection);
  }

  const Options options_;
  const int max_nodes_;
  const CallerCheck check_;
  const std::unique_ptr<Listener> listener_;
  const Endpoint address_;
  // Null until Serve is called.
  std::unique_ptr<grpc::Service> attach_;
  std::unique_ptr<grpc::Service> admin_;
  // Null until gRPC is set up, either in Start or by the listener's thread.
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
};

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

GrpcServer::~GrpcServer() { Shutdown(Duration::zero()); }

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(
    Coordinator* coordinator, const Options& options) {
  absl::StatusOr<std::unique_ptr<GrpcServer>> server = Listen(options);
  if (!server.ok()) return server.status();
  const absl::Status serving = (*server)->Serve(coordinator);
  if (!serving.ok()) return serving;
  return server;
}

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Listen(
    const Options& options) {
  const absl::Status tokens = CheckCoordinatorTokens(options.tokens);
  if (!options.tls.given() && !tokens.ok()) return tokens;
  const auto addresses = Resolve(options.listen.host, options.listen.port,
                                 {.timeout = kResolveTimeout});
  if (!addresses.ok()) return addresses.status();
  const int descriptors = RaiseDescriptorLimit(kKeptForOthers);
  ConnectionLimits limits = LimitsFor(descriptors);
  if (options.max_nodes.has_value()) limits.nodes = *options.max_nodes;
  Listener::Options listening;
  listening.address = addresses->front();
  listening.limits = limits;
  // RaiseDescriptorLimit has split the process's limit of descriptors:
  // `descriptors` for connections, and a reserve for other uses. The reserve is
  // kKeptForOthers or half of the limit, whichever is less. A connection that
  // arrives when all `descriptors` are in use may take one of the first half of
  // the reserve.
  listening.max_descriptor =
      descriptors + std::min(kKeptForOthers, descriptors) / 2;
  auto listener = Listener::Listen(listening);
  if (!listener.ok()) {
    return WhyNotListening(options.listen, listener.status());
  }
  return std::unique_ptr<GrpcServer>(new GrpcServer(
      std::make_unique<Impl>(options, limits, *std::move(listener))));
}

absl::Status GrpcServer::Serve(Coordinator* coordinator) {
  return impl_->Serve(coordinator);
}

const Endpoint& GrpcServer::address() const { return impl_->address(); }

int GrpcServer::max_nodes() const { return impl_->max_nodes(); }

absl::Status GrpcServer::Check() { return impl_->Check(); }

void GrpcServer::Shutdown(Duration grace) { impl_->Shutdown(grace); }

}  // namespace muster::rendezvous
