// Two agents for one place: an agent that was started anew, a replacement that
// arrives before the agent that it replaces has ended, or a mistake of
// configuration.

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rendezvous/job/job.h"

namespace muster::rendezvous {
namespace {

constexpr size_t kMaxNamed = 8;

std::string HeldBy(const Node& holder) {
  return absl::StrCat(holder.identity.host, ", process ", holder.identity.pid);
}

}  // namespace

Node* Job::Contend(Node& holder, StreamId stream, const Report& report) {
  if (holder.stream == 0) {
    // The holder is disconnected and its successor is here, so there is no need
    // to wait for the lease.
    Lose(holder, "its agent was started anew", Membership::Memory::kSuperseded);
    return Admit(stream, report);
  }
  if (holder.contender == 0) {
    holder.revision = ++revision_;
    holder.proof_of_life = holder.revision;
    holder.proved_alive = false;
    Tell(holder);
  }
  if (holder.contender_incarnation != report.node.incarnation) {
    holder.contender_incarnation = report.node.incarnation;
    holder.contended_since = now_;
  }
  if (holder.contender != stream) successors_.erase(holder.contender);
  holder.contender = stream;
  nodes_.Hear(report.node, report.sequence);
  const bool waits = report.waits_for_place &&
                     now_ < holder.contended_since + spec_.join_timeout;
  if (waits) {
    const bool is_new =
        successors_
            .insert_or_assign(
                stream, Successor{holder.identity.node_id, report.node.host})
            .second;
    if (is_new) {
      Note("successor", holder.identity.node_id,
           absl::StrCat(report.node.host, ", process ", report.node.pid,
                        ", waits for the end of ", HeldBy(holder)));
    }
  } else {
    successors_.erase(stream);
  }
  TellStream(
      stream, DirectiveKind::kWait,
      absl::StrCat("node ", holder.identity.node_id, " is held by ",
                   HeldBy(holder),
                   waits && holder.proved_alive
                       ? ", which is alive; this node takes its place when "
                         "that has ended"
                       : "; waiting for a sign of life from it"));
  return nullptr;
}

// Called once `holder` has proved to be alive.
void Job::AnswerContender(Node& holder) {
  if (successors_.contains(holder.contender)) {
    holder.proved_alive = true;
    return;
  }
  TellStream(holder.contender, DirectiveKind::kRefused,
             absl::StrCat("node ", holder.identity.node_id,
                          " is already held by ", HeldBy(holder),
                          ", which is alive; give each node a --node-rank "
                          "or --node-id of its own"));
  holder.contender = 0;
}

void Job::LoseContender(StreamId stream) {
  const auto found = successors_.find(stream);
  if (found == successors_.end()) return;
  Node* const holder = nodes_.Find(found->second.node_id);
  if (holder != nullptr && holder->contender == stream) holder->contender = 0;
  successors_.erase(found);
}

std::string Job::SuccessorsText() const {
  std::string text;
  size_t named = 0;
  for (const auto& [stream, successor] : successors_) {
    if (named++ == kMaxNamed) return absl::StrCat(text, "; …");
    absl::StrAppend(&text, "; ", successor.host, " waits for the end of node ",
                    successor.node_id, " to take its place");
  }
  return text;
}

}  // namespace muster::rendezvous
