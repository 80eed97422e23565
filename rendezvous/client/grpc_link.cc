#include "rendezvous/client/grpc_link.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>
#include <grpcpp/support/sync_stream.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "base/net/resolve.h"
#include "proto/coordinator.grpc.pb.h"
#include "rendezvous/client/channel.h"
#include "rendezvous/client/dialer.h"
#include "rendezvous/grpc/grpc_setup.h"
#include "rendezvous/wire/directive_wire.h"
#include "rendezvous/wire/inquiry_wire.h"
#include "rendezvous/wire/report_wire.h"

namespace muster::rendezvous {

// One Attach stream, implemented with gRPC's callbacks. gRPC may call OnRead…
// and OnWrite… at the same time, but never from within StartWrite. StartWrite
// may therefore be called with the lock held.
//
// One read is always pending until a read fails. After a failed read no
// operation is started, so gRPC calls OnDone once all started operations have
// ended.
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
    // Take no lock: after OnEnded another thread may destroy this object and
    // its mutex. OnDone is gRPC's last callback, so no other callback runs.
    absl::Status end = unsound_.ok() ? FromGrpc(status) : unsound_;
    listener_->OnEnded(std::move(end));
  }

 private:
  // If no write is in flight, starts the next write or closes the sending side.
  // Requires mutex_.
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
  // whether gRPC is sending a report; `leaving_` holds this report
  bool writing_ = false;
  bool over_ = false;  // whether a read has failed: the stream is over
  bool closing_ = false;
  bool said_done_ = false;  // whether StartWritesDone was called
  absl::Status unsound_;
  v1::Report leaving_;
  std::optional<Report> unsent_;

  // held during each call of `listener_`, so that its calls do not overlap
  std::mutex listening_;
};

AgentStream::AgentStream(const std::shared_ptr<grpc::Channel>& channel,
                         const std::string& token, Listener* listener)
    : impl_(std::make_unique<Impl>(channel, token, listener)) {}

AgentStream::~AgentStream() = default;

void AgentStream::Send(const Report& report) { impl_->Send(report); }
void AgentStream::Close() { impl_->Close(); }
void AgentStream::Cancel() { impl_->Cancel(); }

namespace {

constexpr Duration kResolveTimeout = std::chrono::seconds(10);
// Sends the local node's answer to an operator's question (Inquiry) over gRPC.
// Send blocks while gRPC's flow control accepts no more data.
class GrpcAnswer : public AnswerSender {
 public:
  GrpcAnswer(const std::shared_ptr<grpc::Channel>& channel,
             const std::string& token, const std::string& run_id,
             uint64_t inquiry)
      : stub_(v1::Coordinator::NewStub(channel)) {
    if (!token.empty()) {
      context_.AddMetadata(kAuthorization, absl::StrCat(kBearer, token));
    }
    context_.AddMetadata(kInquiry, absl::StrCat(inquiry));
    context_.AddMetadata(kRunIdBytes, run_id);
    writer_ = stub_->Answer(&context_, &taken_);
  }
  ~GrpcAnswer() override {
    if (ended_) return;
    context_.TryCancel();
    writer_->Finish();
  }

  bool Send(const AnswerPart& part) override {
    if (ended_) return false;
    v1::AnswerPart wire;
    ToWire(part, &wire);
    const bool sent = writer_->Write(wire);
    if (sent && !part.is_last) return true;
    if (sent) writer_->WritesDone();
    ended_ = true;
    return writer_->Finish().ok() && sent;
  }

  void Cancel() override { context_.TryCancel(); }

 private:
  const std::unique_ptr<v1::Coordinator::Stub> stub_;
  grpc::ClientContext context_;
  v1::AnswerTaken taken_;
  std::unique_ptr<grpc::ClientWriter<v1::AnswerPart>> writer_;
  bool ended_ = false;
};

// How long Close waits for the coordinator to receive the last report.
constexpr Duration kFarewell = std::chrono::milliseconds(500);

}  // namespace

class GrpcLink::Impl : private AgentStream::Listener {
 public:
  explicit Impl(Options options)
      : options_(std::move(options)),
        dialer_(options_.endpoints, options_.tls, options_.token,
                options_.keep_alive),
        random_(std::random_device()()) {}

  ~Impl() override { Close(); }

  void Open(LinkEvents events) {
    MUSTER_CHECK(!thread_.joinable()) << "opened twice";
    events_ = std::move(events);
    thread_ = std::thread([this] { Run(); });
  }

  void Send(const Report& report) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closing_) return;
    if (up_ && stream_ != nullptr) {
      stream_->Send(report);
    } else {
      unsent_ = report;
    }
  }

  void SetStandbys(const std::vector<std::string>& standbys) {
    std::vector<Endpoint> endpoints;
    for (const std::string& standby : standbys) {
      absl::StatusOr<Endpoint> endpoint = ParseEndpoint(standby);
      if (endpoint.ok()) endpoints.push_back(*std::move(endpoint));
    }
    dialer_.SetStandbys(std::move(endpoints));
  }

  void Reconnect(Duration pause, const std::string& endpoint) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closing_ || stream_ == nullptr || !up_) return;
    hanging_up_ = HangUp{.pause = pause, .endpoint = endpoint};
    stream_->Cancel();
  }

  std::unique_ptr<AnswerSender> Answer(const std::string& run_id,
                                       uint64_t inquiry) {
    std::shared_ptr<grpc::Channel> channel;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!up_) return nullptr;
      channel = channel_;
    }
    if (channel == nullptr) return nullptr;
    return std::make_unique<GrpcAnswer>(
        channel, BearerToken(options_.tls, options_.token), run_id, inquiry);
  }

  void Close() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

 private:
  // A request to end the stream and to connect again: the arguments of the last
  // call of Reconnect.
  struct HangUp {
    Duration pause;
    std::string endpoint;
  };

  // The result of one attempt to open a stream, filled in when the stream has
  // ended or could not be opened.
  struct Attempt {
    absl::Status end;
    // How long the stream was up; nullopt: it never came up.
    std::optional<Duration> lasted;
  };

  // --- The callbacks of AgentStream::Listener; gRPC's threads call them.
  void OnUp() override {
    std::lock_guard<std::mutex> lock(mutex_);
    up_ = news_up_ = true;
    changed_.notify_all();
  }
  void OnDirective(Directive directive) override {
    std::lock_guard<std::mutex> lock(mutex_);
    // Keep only the newest directive. An older one that the agent has not
    // received yet is replaced.
    directive_ = std::move(directive);
    changed_.notify_all();
  }
  void OnEnded(absl::Status status) override {
    std::lock_guard<std::mutex> lock(mutex_);
    up_ = false;
    ended_ = std::move(status);
    changed_.notify_all();
  }

  void Run() {
    RetryPace pace(MonotonicNow());
    while (!Closing()) {
      const Attempt attempt = TryEveryEndpoint();
      if (Closing()) return;
      if (const std::optional<HangUp> hung_up = TakeHangUp()) {
        const absl::StatusOr<Endpoint> next = ParseEndpoint(hung_up->endpoint);
        if (next.ok()) {
          dialer_.BeginWith(*next);
        } else {
          dialer_.Advance();
        }
        Pause(hung_up->pause);
        continue;
      }
      if (attempt.lasted.has_value()) dialer_.Lost();
      events_.on_disconnected(attempt.end);
      Pause(attempt.lasted.has_value()
                ? pace.AfterStream(MonotonicNow(), *attempt.lasted)
                : pace.AfterFailure(MonotonicNow()));
    }
  }

  Attempt TryEveryEndpoint() {
    Attempt attempt;
    attempt.end = dialer_.Dial(
        {.timeout = kResolveTimeout, .given_up = [this] { return Closing(); }},
        [&](const Endpoint& endpoint, const SocketAddress& address,
            const std::shared_ptr<grpc::Channel>& channel) {
          attempt = Try(endpoint, address, channel);
          return Dialer::Outcome{.answered = attempt.lasted.has_value(),
                                 .end = attempt.end};
        });
    return attempt;
  }

  Attempt Try(const Endpoint& endpoint, const SocketAddress& address,
              const std::shared_ptr<grpc::Channel>& channel) {
    std::unique_lock<std::mutex> lock(mutex_);
    news_up_ = false;
    directive_.reset();
    ended_.reset();
    lock.unlock();
    // Create the stream without holding the lock: its constructor may call
    // OnUp, which takes the lock.
    auto stream = std::make_unique<AgentStream>(
        channel, BearerToken(options_.tls, options_.token),
        static_cast<AgentStream::Listener*>(this));
    lock.lock();
    stream_ = stream.get();
    channel_ = channel;
    Attempt attempt = Follow(&lock, endpoint, address);
    stream_ = nullptr;
    channel_ = nullptr;
    lock.unlock();
    if (attempt.lasted.has_value()) was_up_ = true;
    const bool may_be_tls =
        !was_up_ || absl::StrContains(attempt.end.message(), "handshake");
    if (attempt.lasted.has_value() || !may_be_tls || Closing()) return attempt;
    absl::Status reason = WithTlsReason(attempt.end, endpoint, address,
                                        options_.tls, options_.token);
    // If TLS is the cause, `reason` explains it and has the code
    // Unauthenticated, after which the agent gives up. But if a stream was up
    // before, a TLS error may be temporary, for example while certificates are
    // renewed. Then use only the message of `reason` and keep the code of
    // attempt.end, so that the agent retries.
    attempt.end = was_up_ ? absl::Status(attempt.end.code(), reason.message())
                          : std::move(reason);
    return attempt;
  }

  // Passes the stream's events on to the agent until the stream ends. Requires
  // mutex_.
  Attempt Follow(std::unique_lock<std::mutex>* lock, const Endpoint& endpoint,
                 const SocketAddress& address) {
    std::optional<Instant> up_since;
    while (true) {
      changed_.wait(*lock, [this] {
        return closing_ || news_up_ || directive_.has_value() ||
               ended_.has_value();
      });
      if (closing_) {
        SayGoodbye(lock);
        return {};
      }
      if (std::exchange(news_up_, false)) {
        up_since = MonotonicNow();
        if (unsent_.has_value()) stream_->Send(*std::exchange(unsent_, {}));
        lock->unlock();
        events_.on_connected(LocalAddressTowards(address), address.Ip(),
                             endpoint.ToString());
        lock->lock();
      } else if (directive_.has_value()) {
        Directive directive = *std::exchange(directive_, std::nullopt);
        lock->unlock();
        events_.on_directive(std::move(directive));
        lock->lock();
      } else {
        Attempt attempt;
        attempt.end = Explain(*ended_, endpoint.ToString());
        if (up_since.has_value()) attempt.lasted = MonotonicNow() - *up_since;
        return attempt;
      }
    }
  }

  // Closes the stream, and cancels it if the coordinator does not end it within
  // kFarewell. Returns once the stream has ended. Requires mutex_.
  void SayGoodbye(std::unique_lock<std::mutex>* lock) {
    const auto has_ended = [this] { return ended_.has_value(); };
    if (up_) {
      stream_->Close();
      changed_.wait_for(*lock, kFarewell, has_ended);
    }
    if (has_ended()) return;
    stream_->Cancel();
    // No deadline is needed: a cancelled call ends locally, whatever the
    // coordinator does.
    changed_.wait(*lock, has_ended);
  }

  static absl::Status Explain(const absl::Status& status,
                              const std::string& endpoint) {
    if (status.ok()) {
      return ExplainCallError(absl::CancelledError(), endpoint);
    }
    if (status.code() == absl::StatusCode::kInvalidArgument) {
      // A field of a report or directive is out of its bounds. A retry would
      // fail in the same way, so return FailedPrecondition, after which the
      // agent does not retry.
      return absl::FailedPreconditionError(absl::StrCat(
          "coordinator ", endpoint, ": ", absl::string_view(status.message())));
    }
    return ExplainCallError(status, endpoint);
  }

  // Returns the arguments of the Reconnect call that ended the stream, and
  // clears them; nullopt: Reconnect was not called.
  std::optional<HangUp> TakeHangUp() {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(hanging_up_, std::nullopt);
  }

  bool Closing() {
    std::lock_guard<std::mutex> lock(mutex_);
    return closing_;
  }

  void Pause(Duration wait) {
    // Jitter of a tenth, so that thousands of agents do not reconnect at once.
    std::uniform_real_distribution<double> spread(0.9, 1.1);
    const Duration jittered(
        static_cast<int64_t>(wait.count() * spread(random_)));
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, jittered, [this] { return closing_; });
  }

  const Options options_;
  Dialer dialer_;
  // Whether a stream was ever up. Used by thread_ only.
  bool was_up_ = false;
  LinkEvents events_;
  std::minstd_rand random_;  // used by thread_ only
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  std::optional<HangUp> hanging_up_;
  // The stream of the current attempt to connect, also while it is up. Null
  // between two attempts.
  AgentStream* stream_ = nullptr;
  std::shared_ptr<grpc::Channel> channel_;  // the channel of `stream_`
  bool up_ = false;
  // the agent's newest report, kept until a stream is up
  std::optional<Report> unsent_;
  // Events of the stream that were not yet passed to events_. news_up_: the
  // stream is up. directive_: the newest directive. ended_: the status with
  // which the stream ended.
  bool news_up_ = false;
  std::optional<Directive> directive_;
  std::optional<absl::Status> ended_;
};

GrpcLink::GrpcLink(Options options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

GrpcLink::~GrpcLink() = default;

void GrpcLink::Open(LinkEvents events) { impl_->Open(std::move(events)); }
void GrpcLink::Send(const Report& report) { impl_->Send(report); }
void GrpcLink::SetStandbys(const std::vector<std::string>& standbys) {
  impl_->SetStandbys(standbys);
}
void GrpcLink::Reconnect(Duration pause, const std::string& endpoint) {
  impl_->Reconnect(pause, endpoint);
}
std::unique_ptr<AnswerSender> GrpcLink::Answer(const std::string& run_id,
                                               uint64_t inquiry) {
  return impl_->Answer(run_id, inquiry);
}
void GrpcLink::Close() { impl_->Close(); }

}  // namespace muster::rendezvous
