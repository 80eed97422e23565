#ifndef MUSTER_AGENT_STORE_STORE_PATH_H_
#define MUSTER_AGENT_STORE_STORE_PATH_H_

namespace muster::agent {

// The path of the connections from a node's workers to the round's store.
enum class StorePath {
  kDirect,  // one connection per worker to the node of rank 0
  // one connection per node: its agent relays its workers' requests
  // (--local-store)
  kThroughAgent,
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_STORE_STORE_PATH_H_
