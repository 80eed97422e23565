#ifndef MUSTER_AGENT_LIFECYCLE_TELLING_H_
#define MUSTER_AGENT_LIFECYCLE_TELLING_H_

namespace muster::agent {

// Whether the output of a job's nodes flows together, as that of a Slurm step
// does: then a message about the whole job is to be printed once.
enum class Telling {
  kAlone,  // this node is the only one there
  kFirst,  // it says what nobody else may be there to say
  kOther,
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_TELLING_H_
