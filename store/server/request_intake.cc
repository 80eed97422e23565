#include "store/server/request_intake.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/little_endian.h"
#include "store/wire/relay_frames.h"
#include "store/wire/request.h"

namespace muster::store {
namespace {

// Limit of the bytes that wait to be sent on one connection. Beyond it,
// requests that would add to these bytes are not handled yet.
constexpr size_t kHighWater = size_t{1} << 20;

}  // namespace

bool RequestGate::MustStall(const StoreConnection& connection,
                            const StoreConnection* upstream) {
  // A relay always reads from its connection to the store server (upstream).
  // Otherwise the relay and the server could wait for each other to read.
  if (connection.role == StoreConnection::Role::kUpstream) return false;
  if (connection.out.size() > kHighWater) return true;
  if (connection.role != StoreConnection::Role::kClient) return false;
  if (upstream != nullptr && upstream->out.size() > kHighWater) {
    upstream_was_full_ = true;
    return true;
  }
  return !service_->MayGoOn(connection.id);
}

bool RequestGate::TakeUpstreamRoom(const StoreConnection& upstream) {
  if (!upstream_was_full_ || upstream.out.size() > kHighWater) return false;
  upstream_was_full_ = false;
  return true;
}

void RequestGate::Enqueue(StoreConnection& connection) {
  connection.stalled = true;
  if (connection.queued) return;
  connection.queued = true;
  queue_.push_back(connection.id);
}

StoreClientId RequestGate::TakeNext() {
  const StoreClientId id = queue_.front();
  queue_.pop_front();
  return id;
}

absl::StatusOr<size_t> RequestIntake::TakeOne(
    StoreConnection& connection, std::string_view bytes, StoreEffects* effects,
    std::vector<StoreClientId>* gone) {
  switch (connection.role) {
    case StoreConnection::Role::kClient:
      return TakeRequest(connection, bytes, effects);
    case StoreConnection::Role::kRelay:
      return TakeFrame(connection, bytes, effects, gone);
    case StoreConnection::Role::kUpstream:
      return service_->OnUpstream(bytes, effects);
  }
  return 0;
}

absl::StatusOr<size_t> RequestIntake::TakeRequest(StoreConnection& connection,
                                                  std::string_view bytes,
                                                  StoreEffects* effects) {
  const absl::StatusOr<size_t> length =
      connection.parser.Parse(bytes, &request_);
  if (!length.ok() || *length == 0) return length;
  if (request_.command != StoreCommand::kRelay) {
    service_->OnRequest(connection.id, connection.parser.framing(), request_,
                        effects);
    return length;
  }
  if (relays_ == Relays::kRefused || request_.number != kRelayVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("no relay of version ", request_.number, " is taken"));
  }
  connection.role = StoreConnection::Role::kRelay;
  AppendInteger(kRelayVersion, effects->AddReply(connection.id));
  return length;
}

absl::StatusOr<size_t> RequestIntake::TakeFrame(
    StoreConnection& connection, std::string_view bytes, StoreEffects* effects,
    std::vector<StoreClientId>* gone) {
  RelayFrame frame;
  const absl::StatusOr<size_t> length =
      ParseRelayFrame(bytes, kMaxStoreRequestBytes, &frame);
  if (!length.ok() || *length == 0) return length;
  if (frame.kind == RelayFrameKind::kGone) {
    // With a kGone frame the relay reports that the client of a channel has
    // disconnected. If this server has ended the channel itself just before,
    // the channel is unknown now, and End has no effect.
    channels_->End(connection, frame.channel, gone);
    return length;
  }
  RequestParser parser(StoreFraming::kModern);
  const absl::StatusOr<size_t> request = parser.Parse(frame.bytes, &request_);
  if (!request.ok()) return request;
  if (*request == 0 || *request != frame.bytes.size()) {
    return absl::InvalidArgumentError(
        "a relay's frame that is not one request");
  }
  const absl::StatusOr<StoreClientId> client =
      channels_->ClientOf(connection, frame.channel);
  if (!client.ok()) return client.status();
  service_->OnRequest(*client, StoreFraming::kModern, request_, effects);
  return length;
}

}  // namespace muster::store
