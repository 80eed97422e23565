#ifndef MUSTER_RENDEZVOUS_CLIENT_FOLLOWING_LINK_H_
#define MUSTER_RENDEZVOUS_CLIENT_FOLLOWING_LINK_H_

#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/client/coordinator_link.h"
#include "rendezvous/server/coordinator.h"

namespace muster::rendezvous {

// The link of an agent that has in its own process a Coordinator, `own`, which
// can take over the job. Forwards everything to another link, which leads to
// the job's coordinator. Calls Coordinator::Follow of `own` with the endpoint
// and the epoch of the job's coordinator, or with nullopt while the agent has
// none. A standby that answers does not count as the job's coordinator.
class FollowingLink : public CoordinatorLink {
 public:
  // `own`: the coordinator in this process, whose Options::takeover is set. It
  // must outlive the link.
  FollowingLink(std::unique_ptr<CoordinatorLink> link, Coordinator* own);

  void Open(LinkEvents events) override;
  void Send(const Report& report) override;
  void SetStandbys(const std::vector<std::string>& standbys) override;
  void Reconnect(Duration pause, const std::string& endpoint) override;
  std::unique_ptr<AnswerSender> Answer(const std::string& run_id,
                                       uint64_t inquiry) override;
  void Close() override;

 private:
  const std::unique_ptr<CoordinatorLink> link_;
  Coordinator* const own_;
  LinkEvents events_;
  // HOST:PORT of the coordinator that the link is connected to. Used only in
  // the link's events, which never overlap.
  std::string connected_to_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_FOLLOWING_LINK_H_
