#ifndef MUSTER_AGENT_FRAMEWORK_ENV_PUBLISHED_ADDRESS_H_
#define MUSTER_AGENT_FRAMEWORK_ENV_PUBLISHED_ADDRESS_H_

#include <string>

namespace muster::agent {

// "host:port", an IPv6 address in brackets; empty if `host` is empty.
std::string PublishedAddress(const std::string& host, int port);

// Converts the address that another node published into one that works on this
// node, whose address is `own`. The node on the coordinator's host may publish
// a loopback address; other nodes replace its host by the one in `coordinator`
// ("HOST:PORT"). Pure.
std::string AddressFromHere(const std::string& published,
                            const std::string& own,
                            const std::string& coordinator);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FRAMEWORK_ENV_PUBLISHED_ADDRESS_H_
