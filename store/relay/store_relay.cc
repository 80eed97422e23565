#include "store/relay/store_relay.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/little_endian.h"
#include "base/monotonic_clock.h"
#include "base/net/connect.h"
#include "base/net/resolve.h"
#include "base/poll.h"
#include "base/resource_room.h"
#include "store/relay/relay_core.h"
#include "store/server/hub_events.h"
#include "store/server/listening_socket.h"
#include "store/server/store_hub.h"
#include "store/server/store_service.h"
#include "store/wire/relay_frames.h"
#include "store/wire/request.h"

namespace muster::store {
namespace {

// Shortest and longest pause between two attempts to connect to the store. The
// store opens its port when its node begins the round, perhaps a moment after
// this relay starts.
constexpr Duration kFirstRetryPause = std::chrono::milliseconds(2);
constexpr Duration kLongestRetryPause = std::chrono::milliseconds(50);

// Sends VALIDATE and RELAY on a new connection, and checks that the server
// accepts relay frames of this version.
absl::Status Agree(StreamSocket& socket, Instant deadline) {
  std::string greeting;
  AppendRequest({.command = StoreCommand::kValidate, .number = kStoreMagic},
                &greeting);
  AppendRequest({.command = StoreCommand::kRelay, .number = kRelayVersion},
                &greeting);
  // These few bytes fit into the send buffer of a new connection, so Send does
  // not block.
  iovec whole = {greeting.data(), greeting.size()};
  if (socket.Send({&whole, 1}) != static_cast<ssize_t>(greeting.size())) {
    return absl::UnavailableError("it ended the connection");
  }
  std::string answer(sizeof(uint32_t), '\0');
  size_t got = 0;
  while (got < answer.size()) {
    iovec rest = {answer.data() + got, answer.size() - got};
    const ssize_t count = socket.Receive({&rest, 1});
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      if (PollUntil(socket.fd.get(), POLLIN, deadline)) continue;
      return absl::DeadlineExceededError("it does not answer");
    }
    if (count <= 0) {
      return absl::FailedPreconditionError(
          "it ended the connection: it takes no relay");
    }
    got += static_cast<size_t>(count);
  }
  if (ReadInteger<uint32_t>(answer) != kRelayVersion) {
    return absl::FailedPreconditionError("it is a relay's of another version");
  }
  return absl::OkStatus();
}

// Makes one attempt to connect to one address.
absl::StatusOr<StreamSocket> Reach(const SocketAddress& address,
                                   const std::optional<TlsContext>& tls,
                                   Instant deadline) {
  absl::StatusOr<OwnedFd> fd = Connect(address, deadline);
  if (!fd.ok()) return fd.status();
  StreamSocket socket{*std::move(fd), nullptr};
  if (tls.has_value()) {
    // TLS must not read more from the socket than it returns to its caller. The
    // relay waits for this socket with epoll, and epoll does not report data
    // that TLS has already read.
    socket.tls = std::make_unique<TlsStream>(
        *tls, TlsStream::Side::kClient, socket.fd.get(),
        TlsStream::Options{.buffering = TlsStream::Buffering::kNone});
    absl::Status shaken = socket.tls->FinishHandshake(deadline);
    if (!shaken.ok()) return shaken;
  }
  absl::Status agreed = Agree(socket, deadline);
  if (!agreed.ok()) return agreed;
  return socket;
}

}  // namespace

absl::StatusOr<StreamSocket> ConnectUpstream(
    const std::vector<SocketAddress>& addresses,
    const std::optional<TlsContext>& tls, Instant deadline) {
  absl::Status last = absl::UnavailableError("the deadline is over");
  Duration pause = kFirstRetryPause;
  while (true) {
    for (size_t i = 0; i < addresses.size(); ++i) {
      const Instant share =
          ShareOf(deadline, MonotonicNow(), addresses.size() - i);
      absl::StatusOr<StreamSocket> socket = Reach(addresses[i], tls, share);
      if (socket.ok()) return socket;
      last = socket.status();
      if (absl::IsFailedPrecondition(last)) return last;
    }
    if (MonotonicNow() + pause >= deadline) return last;
    PauseUntil(MonotonicNow() + pause);
    pause = std::min(pause * 2, kLongestRetryPause);
  }
}

namespace {

// Limit, in bytes, of the memory for a relay's pending shared requests. (If
// several clients of the relay send equal waits or equal reads, the relay sends
// one request to the store server for all of them.)
constexpr size_t kMaxHeldBytes = size_t{256} << 20;

// Connects a RelayCore to a StoreHub.
class RelayService : public StoreService {
 public:
  explicit RelayService(size_t max_fan_out_bytes)
      : core_(kUpstreamClient, {.held_bytes = kMaxHeldBytes,
                                .fan_out_bytes = max_fan_out_bytes}) {}

  void OnRequest(StoreClientId client, StoreFraming framing,
                 const StoreRequest& request, StoreEffects* effects) override {
    core_.OnRequest(client, framing, request, effects);
  }
  bool MayGoOn(StoreClientId client) const override {
    return !core_.Busy(client);
  }
  void OnGone(StoreClientId client, StoreEffects* effects) override {
    if (client != kUpstreamClient) core_.OnGone(client, effects);
  }
  bool WantsTicks() const override { return false; }
  void OnTick(StoreEffects*) override {}
  size_t bytes() const override { return core_.held_bytes(); }
  absl::StatusOr<size_t> OnUpstream(std::string_view bytes,
                                    StoreEffects* effects) override {
    RelayFrame frame;
    const absl::StatusOr<size_t> length =
        ParseRelayFrame(bytes, kMaxStoreReplyBytes, &frame);
    if (length.ok() && *length > 0) core_.OnFrame(frame, effects);
    return length;
  }

 private:
  RelayCore core_;
};

absl::StatusOr<StreamSocket> ReachUpstream(const std::string& host, int port,
                                           const std::optional<TlsContext>& tls,
                                           Instant deadline) {
  const absl::StatusOr<std::vector<SocketAddress>> addresses =
      Resolve(host, port, {.timeout = deadline - MonotonicNow()});
  absl::Status status = addresses.status();
  if (addresses.ok()) {
    absl::StatusOr<StreamSocket> upstream =
        ConnectUpstream(*addresses, tls, deadline);
    if (upstream.ok()) return upstream;
    status = upstream.status();
  }
  return absl::Status(
      status.code(), absl::StrCat("the round's store at ", host, " port ", port,
                                  ": ", status.message()));
}

}  // namespace

class StoreRelay::Running {
 public:
  Running(StoreHubOptions options, std::string upstream, int port)
      // All copies of the reply to one shared read take at most a quarter of
      // the buffer limit. Once unread replies take half of the limit, new
      // requests wait. So unread replies and one more shared reply together
      // stay below the limit.
      : service_(options.max_buffer_bytes / 4),
        hub_(std::move(options), &service_),
        upstream_(std::move(upstream)),
        port_(port) {}

  absl::Status Start() {
    absl::Status prepared = hub_.Prepare();
    if (!prepared.ok()) return prepared;
    return thread_.Start("muster-relay", [this] { Serve(); });
  }

  void Close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!thread_.started()) return;
    hub_.Stop();
    thread_.Join();
  }

  int port() const { return port_; }

 private:
  void Serve() {
    const absl::Status served = hub_.Run();
    if (served.ok()) return;
    hub_.Notice(absl::StrCat("the relay of the round's store at ", upstream_,
                             " ends: ", served.message()));
  }

  RelayService service_;
  StoreHub hub_;
  const std::string upstream_;
  const int port_;
  std::mutex mutex_;
  HubThread thread_;
};

absl::StatusOr<std::unique_ptr<StoreRelay>> StoreRelay::Start(
    StoreRelayOptions options) {
  absl::StatusOr<OwnedFd> listener =
      ListenerFor(std::move(options.listener), options.address, options.port);
  if (!listener.ok()) return listener.status();
  const absl::StatusOr<int> port = LocalPort(*listener);
  if (!port.ok()) return port.status();
  absl::StatusOr<StreamSocket> upstream =
      ReachUpstream(options.upstream_host, options.upstream_port, options.tls,
                    options.deadline);
  if (!upstream.ok()) return upstream.status();
  auto running = std::make_unique<Running>(
      StoreHubOptions{
          .listener = *std::move(listener),
          .upstream = *std::move(upstream),
          .relays = StoreHubOptions::Relays::kRefused,
          .clients = std::move(options.clients),
          .max_connections =
              static_cast<size_t>(RaiseDescriptorLimit(kDescriptorsForOthers)),
          .max_buffer_bytes = options.max_buffer_bytes,
          .timeout = options.timeout,
          .on_notice = std::move(options.on_notice),
      },
      absl::StrCat(options.upstream_host, " port ", options.upstream_port),
      *port);
  const absl::Status started = running->Start();
  if (!started.ok()) return started;
  return std::unique_ptr<StoreRelay>(new StoreRelay(std::move(running)));
}

StoreRelay::StoreRelay(std::unique_ptr<Running> running)
    : running_(std::move(running)) {}

StoreRelay::~StoreRelay() { Close(); }

int StoreRelay::port() const { return running_->port(); }

void StoreRelay::Close() { running_->Close(); }

}  // namespace muster::store
