#ifndef MUSTER_RENDEZVOUS_CLIENT_CHANNEL_H_
#define MUSTER_RENDEZVOUS_CLIENT_CHANNEL_H_

#include <memory>

#include "rendezvous/endpoint/socket_address.h"

namespace grpc {
class Channel;
class ChannelCredentials;
}  // namespace grpc

namespace muster {

// How connections are secured. Today: not at all, beyond the job token.
std::shared_ptr<grpc::ChannelCredentials> InsecureClient();

// A connection of its own to `address`, made at the first call. Dead peers are
// found out within 15 s.
std::shared_ptr<grpc::Channel> OpenChannel(
    const SocketAddress& address,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_CLIENT_CHANNEL_H_
