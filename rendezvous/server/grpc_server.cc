#include "rendezvous/server/grpc_server.h"

#include <grpcpp/impl/service_type.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/descriptor_limit.h"
#include "base/net/resolve.h"
#include "base/resource_room.h"
#include "rendezvous/grpc/grpc_setup.h"
#include "rendezvous/server/admin_service.h"
#include "rendezvous/server/attach_service.h"
#include "rendezvous/server/caller_check.h"
#include "rendezvous/tls/tls_credentials.h"
#include "rendezvous/wire/bounded_reader.h"

namespace muster::rendezvous {
namespace {

constexpr Duration kResolveTimeout = std::chrono::seconds(10);

// Number of free descriptors that a server needs in order to listen.
constexpr int kToListen = 8;

// Returns why gRPC could not listen on `address`: gRPC gives no reason, so this
// tries the same system calls.
absl::Status WhyNotListening(const Endpoint& listen,
                             const SocketAddress& address) {
  const std::string what = absl::StrCat("cannot listen on ", listen.ToString());
  const int fd =
      socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  int error = 0;
  if (fd < 0 ||
      setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      bind(fd, address.get(), address.size) != 0 || ::listen(fd, 1) != 0) {
    error = errno;
  }
  if (fd >= 0) close(fd);
  if (error == 0) {
    // Listening succeeds here, so gRPC lacked descriptors or another resource.
    const absl::Status room = CheckRoom({.descriptors = kToListen});
    if (!room.ok()) {
      return absl::Status(room.code(),
                          absl::StrCat(what, ": ", room.message()));
    }
  }
  switch (error) {
    case 0:
    case EADDRINUSE:
      return absl::AlreadyExistsError(
          absl::StrCat(what,
                       ": port in use, perhaps by another coordinator; "
                       "choose another port, or join that one"));
    case EACCES:
      return absl::PermissionDeniedError(
          absl::StrCat(what, ": permission denied; choose a port above 1023"));
    case EADDRNOTAVAIL:
      return absl::InvalidArgumentError(
          absl::StrCat(what, ": this host has no such address"));
    default:
      return absl::UnavailableError(
          absl::StrCat(what, ": ", std::strerror(error)));
  }
}

// Number of descriptors reserved for the process: epoll sets, logs, pipes,
// operators' calls.
constexpr int kKeptForOthers = 100;

void Tune(grpc::ServerBuilder* builder) {
  // Two coordinators on one port would split a job's nodes between them.
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder->SetMaxReceiveMessageSize(kMaxReportBytes);
  builder->SetMaxSendMessageSize(kMaxAnswerBytes);
  builder->AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 16 << 10);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 100);
  // Connections that send nothing, or nothing valid, are soon closed.
  builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10'000);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 300'000);
  // Messages are small, and measuring the bandwidth costs a quarter of a core
  // at 10,000 streams.
  builder->AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  // Finds connections whose host is gone. Slow, because the leases notice lost
  // nodes; this only frees resources.
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  // Permit the agents' pings, one every 10 s; gRPC's default would break their
  // streams.
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000);
}

}  // namespace

class GrpcServer::Impl {
 public:
  Impl(Coordinator* coordinator, const Options& options)
      : max_nodes_(options.max_nodes.has_value()
                       ? *options.max_nodes
                       : RaiseDescriptorLimit(kKeptForOthers)),
        check_(options.token),
        attach_(MakeAttachService(coordinator, &check_, max_nodes_)),
        admin_(MakeAdminService(coordinator, &check_)),
        address_(options.listen) {}

  absl::Status Start(const Options& options, const SocketAddress& address) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(
        Endpoint{address.Ip(), options.listen.port}.ToString(),
        options.tls.given() ? TlsServer(options.tls)
                            : grpc::InsecureServerCredentials(),
        &port);
    builder.RegisterService(attach_.get());
    builder.RegisterService(admin_.get());
    Tune(&builder);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port == 0) {
      return WhyNotListening(options.listen, address);
    }
    address_.port = port;
    return absl::OkStatus();
  }

  void Shutdown(Duration grace) {
    if (server_ == nullptr) return;
    server_->Shutdown(
        std::chrono::system_clock::now() +
        std::chrono::duration_cast<std::chrono::system_clock::duration>(grace));
    server_->Wait();
    server_.reset();
  }

  const Endpoint& address() const { return address_; }
  int max_nodes() const { return max_nodes_; }

 private:
  const int max_nodes_;
  const CallerCheck check_;
  const std::unique_ptr<grpc::Service> attach_;
  const std::unique_ptr<grpc::Service> admin_;
  Endpoint address_;
  std::unique_ptr<grpc::Server> server_;
};

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

GrpcServer::~GrpcServer() { Shutdown(Duration::zero()); }

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(
    Coordinator* coordinator, const Options& options) {
  SetUpGrpc();
  const auto addresses = Resolve(options.listen.host, options.listen.port,
                                 {.timeout = kResolveTimeout});
  if (!addresses.ok()) return addresses.status();
  auto impl = std::make_unique<Impl>(coordinator, options);
  const absl::Status started = impl->Start(options, addresses->front());
  if (!started.ok()) return started;
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(impl)));
}

const Endpoint& GrpcServer::address() const { return impl_->address(); }

int GrpcServer::max_nodes() const { return impl_->max_nodes(); }

void GrpcServer::Shutdown(Duration grace) { impl_->Shutdown(grace); }

}  // namespace muster::rendezvous
