#ifndef MUSTER_AGENT_STORE_STORE_PATH_H_
#define MUSTER_AGENT_STORE_STORE_PATH_H_

namespace muster::agent {

// How a node's workers reach the round's store.
enum class StorePath {
  kDirect,        // one connection a worker to the node of rank 0
  kThroughAgent,  // one a node: this node's agent relays (--local-store)
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_STORE_STORE_PATH_H_
