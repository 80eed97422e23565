#ifndef MUSTER_RENDEZVOUS_CLIENT_CHANNEL_H_
#define MUSTER_RENDEZVOUS_CLIENT_CHANNEL_H_

#include <memory>

#include "base/net/socket_address.h"

namespace grpc {
class Channel;
class ChannelCredentials;
}  // namespace grpc

namespace muster::rendezvous {

// Credentials without encryption; only the job token protects the calls.
std::shared_ptr<grpc::ChannelCredentials> InsecureClient();

// Creates a connection to `address` that is not shared with other channels; it
// connects at the first call. A dead peer is noticed within 15 s.
std::shared_ptr<grpc::Channel> OpenChannel(
    const SocketAddress& address,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_CHANNEL_H_
