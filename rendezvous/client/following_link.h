#ifndef MUSTER_RENDEZVOUS_CLIENT_FOLLOWING_LINK_H_
#define MUSTER_RENDEZVOUS_CLIENT_FOLLOWING_LINK_H_

#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/client/coordinator_link.h"
#include "rendezvous/server/coordinator.h"

namespace muster::rendezvous {

// The link of an agent whose process can take over from the coordinator: passes
// everything on to another link, and tells the coordinator of this process
// where the agent has its own (Coordinator::Follow). A standby that answers is
// not the agent's coordinator.
class FollowingLink : public CoordinatorLink {
 public:
  // `own` must outlive the link; it has Coordinator::Options::takeover.
  FollowingLink(std::unique_ptr<CoordinatorLink> link, Coordinator* own);

  void Open(LinkEvents events) override;
  void Send(const Report& report) override;
  void SetStandbys(const std::vector<std::string>& standbys) override;
  void Reconnect(Duration pause, const std::string& endpoint) override;
  void Close() override;

 private:
  const std::unique_ptr<CoordinatorLink> link_;
  Coordinator* const own_;
  LinkEvents events_;
  std::string connected_to_;  // used by the events, which come one at a time
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_FOLLOWING_LINK_H_
