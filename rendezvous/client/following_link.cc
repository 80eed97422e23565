#include "rendezvous/client/following_link.h"

#include <optional>
#include <utility>

namespace muster::rendezvous {
namespace {

// Whether the directive comes from the job's coordinator. False: it comes from
// a standby, or from a coordinator that refuses the node.
bool ComesFromCoordinator(const Directive& directive) {
  switch (directive.kind) {
    case DirectiveKind::kStandBy:
    case DirectiveKind::kMoved:
    case DirectiveKind::kRefused:
      return false;
    default:
      return true;
  }
}

}  // namespace

FollowingLink::FollowingLink(std::unique_ptr<CoordinatorLink> link,
                             Coordinator* own)
    : link_(std::move(link)), own_(own) {}

void FollowingLink::Open(LinkEvents events) {
  events_ = std::move(events);
  link_->Open({
      .on_connected =
          [this](std::string own, std::string peer, std::string endpoint) {
            own_->Follow(std::nullopt);
            connected_to_ = endpoint;
            events_.on_connected(std::move(own), std::move(peer),
                                 std::move(endpoint));
          },
      .on_directive =
          [this](Directive directive) {
            if (ComesFromCoordinator(directive)) {
              own_->Follow(Standby::Leader{.endpoint = connected_to_,
                                           .epoch = directive.epoch});
              own_->Learn(directive);
            }
            events_.on_directive(std::move(directive));
          },
      .on_disconnected =
          [this](absl::Status why) {
            own_->Follow(std::nullopt);
            events_.on_disconnected(std::move(why));
          },
  });
}

void FollowingLink::Send(const Report& report) { link_->Send(report); }

void FollowingLink::SetStandbys(const std::vector<std::string>& standbys) {
  own_->SetStandbys(standbys);
  link_->SetStandbys(standbys);
}

void FollowingLink::Reconnect(Duration pause, const std::string& endpoint) {
  own_->Follow(std::nullopt);
  link_->Reconnect(pause, endpoint);
}

std::unique_ptr<AnswerSender> FollowingLink::Answer(const std::string& run_id,
                                                    uint64_t inquiry) {
  return link_->Answer(run_id, inquiry);
}

void FollowingLink::Close() {
  link_->Close();
  own_->Follow(std::nullopt);
}

}  // namespace muster::rendezvous
