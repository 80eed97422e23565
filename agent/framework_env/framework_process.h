#ifndef MUSTER_AGENT_FRAMEWORK_ENV_FRAMEWORK_PROCESS_H_
#define MUSTER_AGENT_FRAMEWORK_ENV_FRAMEWORK_PROCESS_H_

namespace muster::agent {

// What a worker's process does first where its program's framework (TensorFlow,
// JAX) tells every worker others' addresses: it reserves a port, meets the
// other workers in the round's store, sets the variables and becomes the
// program. So nothing of it passes the coordinator, and a port is free on the
// node whose program will listen there.

// Whether main was called for this; before anything else.
bool IsFrameworkProcess(int argc, char** argv);

// Becomes the program. Returns only what the process shall exit with where that
// fails, having said why on stderr: 127 and 126 as a shell.
int RunFrameworkProcess(char** argv);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FRAMEWORK_ENV_FRAMEWORK_PROCESS_H_
