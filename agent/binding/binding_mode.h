#ifndef MUSTER_AGENT_BINDING_BINDING_MODE_H_
#define MUSTER_AGENT_BINDING_BINDING_MODE_H_

namespace muster::agent {

// To which cores and memory workers are bound (torchrun's --numa-binding).
enum class Binding {
  kNone,
  kNode,         // every core of the NUMA node near the worker
  kSocket,       // every core of that node's socket
  kExclusive,    // a share of the node's cores that no other worker has
  kCoreComplex,  // the cores of one last-level cache of the node
};

// As it is written after --numa-binding=; "none" for kNone.
const char* BindingName(Binding mode);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_BINDING_MODE_H_
