#ifndef MUSTER_RENDEZVOUS_CLIENT_GRPC_LINK_H_
#define MUSTER_RENDEZVOUS_CLIENT_GRPC_LINK_H_

#include <memory>
#include <string>

#include "rendezvous/client/channel.h"
#include "rendezvous/client/coordinator_link.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::rendezvous {

// A link over gRPC. Owns one thread, from which all events come. Each attempt
// resolves the name again and tries every address in turn.
class GrpcLink : public CoordinatorLink {
 public:
  struct Options {
    Endpoint coordinator;
    std::shared_ptr<grpc::ChannelCredentials> credentials = InsecureClient();
    // The job token that is sent with the call; empty: none.
    std::string token;
  };

  explicit GrpcLink(Options options);
  ~GrpcLink() override;  // calls Close if it was not called

  void Open(LinkEvents events) override;
  void Send(const Report& report) override;
  void Reconnect() override;
  void Close() override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_GRPC_LINK_H_
