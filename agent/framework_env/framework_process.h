#ifndef MUSTER_AGENT_FRAMEWORK_ENV_FRAMEWORK_PROCESS_H_
#define MUSTER_AGENT_FRAMEWORK_ENV_FRAMEWORK_PROCESS_H_

namespace muster::agent {

// Whether the arguments of main ask for a framework process. Call it before
// main does anything else. A framework process prepares a worker whose
// framework (TensorFlow, JAX) needs other workers' addresses. It reserves a
// port, exchanges addresses in the round's store, sets the framework's
// variables and executes the program. The coordinator cannot assign the
// addresses, because only the node where the program will listen can reserve
// its port.
bool IsFrameworkProcess(int argc, char** argv);

// Runs the framework process. Returns an exit code only on failure, after a
// message on stderr: 127 or 126, as in shells.
int RunFrameworkProcess(char** argv);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FRAMEWORK_ENV_FRAMEWORK_PROCESS_H_
