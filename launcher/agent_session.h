#ifndef MUSTER_LAUNCHER_AGENT_SESSION_H_
#define MUSTER_LAUNCHER_AGENT_SESSION_H_

#include <string>

#include "agent/agent.h"
#include "agent/agent_options.h"
#include "agent/guardian/guardian.h"
#include "launcher/voice.h"
#include "rendezvous/client/coordinator_link.h"

namespace muster::launcher {

// Where the log folder came from: a temporary one is made first and removed
// after a success.
enum class LogFolder { kGiven, kTemporary };

// An agent's life as a program shows it: its notices while it runs, at the end
// the verdict (or why there is none) and where the logs are.
agent::AgentResult RunAgentSession(const Voice& voice,
                                   agent::AgentOptions options,
                                   const std::string& program_name,
                                   LogFolder log_folder,
                                   agent::Guardian* guardian,
                                   rendezvous::CoordinatorLink* link);

// Blocks `options`' signals in this thread, and thereby in those it creates
// from now on, until the agent takes them; and ignores SIGPIPE, so that a
// console that goes away does not end the job. Call after the guardian has been
// forked: workers start with the signals as they were.
void PrepareSignals(const agent::AgentOptions& options);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_AGENT_SESSION_H_
