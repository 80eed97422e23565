#ifndef MUSTER_TESTS_SECURITY_HOSTILE_STREAM_H_
#define MUSTER_TESTS_SECURITY_HOSTILE_STREAM_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <chrono>
#include <memory>

#include "proto/coordinator.grpc.pb.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/wire/report_wire.h"

namespace muster::rendezvous {

// A client that sends reports that no agent would send.
class HostileStream {
 public:
  explicit HostileStream(const std::shared_ptr<grpc::Channel>& channel)
      : stub_(v1::Coordinator::NewStub(channel)) {
    context_.set_deadline(std::chrono::system_clock::now() +
                          std::chrono::seconds(60));
    stream_ = stub_->Attach(&context_);
  }

  void Send(const Report& report) {
    v1::Report wire;
    ToWire(report, &wire);
    stream_->Write(wire);
  }
  // Returns the next directive; its kind is KIND_UNSPECIFIED if the stream has
  // ended.
  v1::Directive Read() {
    v1::Directive directive;
    stream_->Read(&directive);
    return directive;
  }
  // Reads the stream to its end.
  grpc::Status End() {
    v1::Directive directive;
    while (stream_->Read(&directive)) {
    }
    return stream_->Finish();
  }

 private:
  const std::unique_ptr<v1::Coordinator::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::Report, v1::Directive>> stream_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_TESTS_SECURITY_HOSTILE_STREAM_H_
