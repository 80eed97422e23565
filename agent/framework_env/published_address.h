#ifndef MUSTER_AGENT_FRAMEWORK_ENV_PUBLISHED_ADDRESS_H_
#define MUSTER_AGENT_FRAMEWORK_ENV_PUBLISHED_ADDRESS_H_

#include <string>

namespace muster::agent {

// "host:port", an IPv6 address in brackets; empty where `host` is.
std::string PublishedAddress(const std::string& host, int port);

// `published` as the node with the address `own` dials it. A node on the
// coordinator's host may know itself by a loopback address only; others find it
// where they find the coordinator, at "HOST:PORT" of `coordinator`. Pure.
std::string AddressFromHere(const std::string& published,
                            const std::string& own,
                            const std::string& coordinator);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FRAMEWORK_ENV_PUBLISHED_ADDRESS_H_
