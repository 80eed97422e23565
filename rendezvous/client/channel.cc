#include "rendezvous/client/channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include "rendezvous/grpc/grpc_setup.h"
#include "rendezvous/wire/bounds.h"

namespace muster::rendezvous {
namespace {

constexpr int kConnectTimeoutMs = 5000;

}  // namespace

std::shared_ptr<grpc::ChannelCredentials> InsecureClient() {
  return grpc::InsecureChannelCredentials();
}

std::shared_ptr<grpc::Channel> OpenChannel(
    const SocketAddress& address,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  SetUpGrpc();
  grpc::ChannelArguments arguments;
  // Not shared with other channels of this process, so that their back-off does
  // not delay this one.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // Despite its name, this option limits the duration of one connection
  // attempt.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);
  // A proxy from the environment is for the web, not for connections within the
  // cluster.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  // The server must permit pings at this rate; grpc_server.cc does.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5'000);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetMaxReceiveMessageSize(kMaxAnswerBytes);
  return grpc::CreateCustomChannel(address.Uri(), credentials, arguments);
}

}  // namespace muster::rendezvous
