#include "rendezvous/client/announcer.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <algorithm>
#include <future>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/net/resolve.h"
#include "proto/coordinator.grpc.pb.h"
#include "rendezvous/client/channel.h"
#include "rendezvous/grpc/grpc_setup.h"

namespace muster::rendezvous {
namespace {

// Time limits of the name look-ups (kResolveTimeout) and of the calls
// (kCallTimeout). First all look-ups run in parallel, then all calls.
constexpr Duration kResolveTimeout = std::chrono::milliseconds(500);
constexpr Duration kHangingPause = std::chrono::seconds(5);
constexpr std::chrono::milliseconds kCallTimeout(700);
// Maximum number of addresses of one name that are called; the others are
// ignored.
constexpr size_t kMaxAddresses = 4;

// One call to one address of an endpoint, kept until the call ends.
struct Call {
  std::string endpoint;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::Coordinator::Stub> stub;
  grpc::ClientContext context;
  v1::KnownCoordinator known;
  std::promise<bool> reached;
};

}  // namespace

Announcer::Announcer(Coordinator* coordinator, Options options)
    : coordinator_(coordinator), options_(std::move(options)) {
  thread_ = std::thread([this] { Run(); });
}

Announcer::~Announcer() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Announcer::Run() {
  while (true) {
    const auto announcement = coordinator_->Announcing();
    if (announcement.has_value()) {
      Announce(*announcement);
    } else {
      channels_.clear();
    }
    std::unique_lock<std::mutex> lock(mutex_);
    if (changed_.wait_for(lock, options_.interval,
                          [this] { return ending_; })) {
      return;
    }
  }
}

void Announcer::Announce(const Coordinator::Announcement& announcement) {
  std::vector<Endpoint> targets = options_.endpoints;
  for (const std::string& standby : announcement.standbys) {
    absl::StatusOr<Endpoint> endpoint = ParseEndpoint(standby);
    if (endpoint.ok() &&
        std::find(targets.begin(), targets.end(), *endpoint) == targets.end()) {
      targets.push_back(*std::move(endpoint));
    }
  }
  const std::string own_endpoint = coordinator_->own_endpoint();
  v1::Announcement message;
  message.set_run_id(announcement.run_id);
  message.set_epoch(announcement.epoch);
  message.set_endpoint(announcement.endpoint);
  message.set_lacks_majority(announcement.backing == Backing::kMinority);
  message.set_gathered(announcement.gathered);
  std::erase_if(targets, [&](const Endpoint& target) {
    return target.ToString() == own_endpoint;
  });
  Connect(targets);
  std::vector<std::unique_ptr<Call>> calls;
  for (const Endpoint& target : targets) {
    const auto channels = channels_.find(target.ToString());
    if (channels == channels_.end()) continue;
    for (const auto& channel : channels->second) {
      auto call = std::make_unique<Call>();
      call->endpoint = channels->first;
      call->channel = channel;
      call->stub = v1::Coordinator::NewStub(call->channel);
      const std::string bearer = BearerToken(options_.tls, options_.token);
      if (!bearer.empty()) {
        call->context.AddMetadata(kAuthorization,
                                  absl::StrCat(kBearer, bearer));
      }
      call->context.set_deadline(std::chrono::system_clock::now() +
                                 kCallTimeout);
      call->stub->async()->Announce(
          &call->context, &message, &call->known,
          [raw = call.get()](const grpc::Status& end) {
            raw->reached.set_value(end.ok());
          });
      calls.push_back(std::move(call));
    }
  }
  // Remove all connections. The loop below puts back each connection whose call
  // succeeds. A failed connection is not kept, because gRPC would wait longer
  // and longer before it connects again; a new connection does not wait.
  channels_.clear();
  for (const auto& call : calls) {
    // Wait for the call's result. The call's deadline limits the wait.
    if (!call->reached.get_future().get()) continue;
    channels_[call->endpoint].push_back(call->channel);
    const v1::KnownCoordinator& known = call->known;
    const bool is_sound = known.epoch() > 0 &&
                          known.endpoint().size() <= kMaxEndpointBytes &&
                          ParseEndpoint(known.endpoint()).ok();
    if (!is_sound) continue;
    coordinator_->Told(announcement.run_id, known.epoch(), known.endpoint())
        .IgnoreError();
  }
}

void Announcer::Connect(const std::vector<Endpoint>& targets) {
  const Instant now = MonotonicNow();
  std::erase_if(hanging_, [&](const auto& one) { return now >= one.second; });
  std::vector<Endpoint> missing;
  std::vector<HostAndPort> names;
  for (const Endpoint& target : targets) {
    const std::string text = target.ToString();
    if (channels_.contains(text) || hanging_.contains(text)) continue;
    missing.push_back(target);
    names.push_back({.host = target.host, .port = target.port});
  }
  const auto found = ResolveAll(
      names, {.timeout = kResolveTimeout, .look_up = options_.look_up});
  for (size_t i = 0; i < missing.size(); ++i) {
    if (absl::IsDeadlineExceeded(found[i].status())) {
      hanging_.emplace(missing[i].ToString(), now + kHangingPause);
    }
    if (!found[i].ok()) continue;
    const auto credentials =
        ClientCredentials(options_.tls, options_.token, missing[i].host);
    auto& channels = channels_[missing[i].ToString()];
    for (const SocketAddress& address : *found[i]) {
      if (channels.size() == kMaxAddresses) break;
      channels.push_back(OpenChannel(address, credentials));
    }
  }
}

}  // namespace muster::rendezvous
