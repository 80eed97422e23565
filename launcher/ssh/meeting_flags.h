#ifndef MUSTER_LAUNCHER_SSH_MEETING_FLAGS_H_
#define MUSTER_LAUNCHER_SSH_MEETING_FLAGS_H_

#include <string>
#include <vector>

#include "launcher/ssh/messages.h"
#include "launcher/ssh/remote_plan.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::launcher {

// HostingFlags: the flags of the agent that hosts the coordinator at
// `endpoint`. MeetingFlags: the flags of the agents that connect to the
// coordinator, or to its successor, at one of `endpoints`.
std::vector<std::string> HostingFlags(const RemotePlan& plan,
                                      const rendezvous::Endpoint& endpoint);
std::vector<std::string> MeetingFlags(
    const RemotePlan& plan, const std::vector<rendezvous::Endpoint>& endpoints);

// Returns the address at which other hosts reach `host`. This is the value of
// --master-addr if it is given, otherwise the address to which ssh connected.
// But other machines cannot use a loopback or link-local address. If ssh
// connected to such an address, and the job has several machines, returns the
// host's outward address or, if it is unusable too, 127.0.0.1.
std::string AddressForOthers(const RemotePlan& plan, const HostUp& host);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_MEETING_FLAGS_H_
