#include "rendezvous/client/agent_stream.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/coordinator.grpc.pb.h"
#include "rendezvous/grpc/call_headers.h"
#include "rendezvous/grpc/grpc_status.h"
#include "rendezvous/wire/directive_wire.h"
#include "rendezvous/wire/report_wire.h"

namespace muster::rendezvous {

// gRPC may call OnRead… and OnWrite… at the same time, but never from within
// StartWrite, so StartWrite may be called with the lock held. One read is
// always pending until a read fails. Nothing is started after that, so OnDone
// comes once all started operations have ended.
class AgentStream::Impl
    : public grpc::ClientBidiReactor<v1::Report, v1::Directive> {
 public:
  Impl(const std::shared_ptr<grpc::Channel>& channel, const std::string& token,
       Listener* listener)
      : listener_(listener), stub_(v1::Coordinator::NewStub(channel)) {
    if (!token.empty()) {
      context_.AddMetadata(kAuthorization, absl::StrCat(kBearer, token));
    }
    stub_->async()->Attach(&context_, this);
    StartRead(&arriving_);
    StartCall();
  }

  void Send(const Report& report) {
    std::lock_guard<std::mutex> lock(mutex_);
    unsent_ = report;
    Go();
  }

  void Close() {
    std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
    Go();
  }

  void Cancel() { context_.TryCancel(); }

  void OnReadInitialMetadataDone(bool ok) override {
    if (!ok) return;
    const auto& headers = context_.GetServerInitialMetadata();
    if (headers.find(kWelcome) == headers.end()) return;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      up_ = true;
      Go();
    }
    std::lock_guard<std::mutex> lock(listening_);
    listener_->OnUp();
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
      return;
    }
    Directive directive;
    const absl::Status status = FromWire(arriving_, &directive);
    arriving_.Clear();
    if (status.ok()) {
      std::lock_guard<std::mutex> lock(listening_);
      listener_->OnDirective(std::move(directive));
    } else {
      std::lock_guard<std::mutex> lock(mutex_);
      if (unsound_.ok()) unsound_ = status;
      context_.TryCancel();
    }
    StartRead(&arriving_);
  }

  void OnWriteDone(bool ok) override {
    std::lock_guard<std::mutex> lock(mutex_);
    writing_ = false;
    leaving_.Clear();
    if (ok) Go();
  }

  void OnDone(const grpc::Status& status) override {
    // No lock is needed, since every other callback has returned. None may be
    // held either, since OnEnded allows another thread to destroy this object.
    absl::Status end = unsound_.ok() ? FromGrpc(status) : unsound_;
    listener_->OnEnded(std::move(end));
  }

 private:
  // Starts a write, or the end of writing, if possible. Requires mutex_.
  void Go() {
    if (!up_ || over_ || writing_ || said_done_) return;
    if (unsent_.has_value()) {
      ToWire(*unsent_, &leaving_);
      unsent_.reset();
      writing_ = true;
      StartWrite(&leaving_);
    } else if (closing_) {
      said_done_ = true;
      StartWritesDone();
    }
  }

  Listener* const listener_;
  const std::unique_ptr<v1::Coordinator::Stub> stub_;
  grpc::ClientContext context_;
  v1::Directive arriving_;

  std::mutex mutex_;
  bool up_ = false;
  bool writing_ = false;  // leaving_ is being written
  bool over_ = false;     // a read has failed
  bool closing_ = false;
  bool said_done_ = false;  // StartWritesDone was called
  absl::Status unsound_;
  v1::Report leaving_;
  std::optional<Report> unsent_;

  std::mutex listening_;  // serialises the calls of listener_
};

AgentStream::AgentStream(const std::shared_ptr<grpc::Channel>& channel,
                         const std::string& token, Listener* listener)
    : impl_(std::make_unique<Impl>(channel, token, listener)) {}

AgentStream::~AgentStream() = default;

void AgentStream::Send(const Report& report) { impl_->Send(report); }
void AgentStream::Close() { impl_->Close(); }
void AgentStream::Cancel() { impl_->Cancel(); }

}  // namespace muster::rendezvous
