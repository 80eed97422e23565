#ifndef MUSTER_AGENT_INQUIRY_ANSWERS_H_
#define MUSTER_AGENT_INQUIRY_ANSWERS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/logs/recent_output.h"
#include "base/time.h"
#include "rendezvous/client/coordinator_link.h"
#include "rendezvous/protocol/inquiry.h"

namespace muster::agent {

// Answers inquiries: the requests of operators for workers' output (`launch
// logs`) or stacks (`launch stacks`), which reach this node in the
// coordinator's directives. Each answer has a thread of its own, so that the
// agent waits neither for an operator nor for a tool such as gdb.
//
// Not thread-safe: used by the agent's loop.
class InquiryAnswers {
 public:
  // `link` must outlive this object.
  InquiryAnswers(std::string run_id, rendezvous::CoordinatorLink* link,
                 std::shared_ptr<RecentOutput> output);
  ~InquiryAnswers();  // cancels all answers
  InquiryAnswers(const InquiryAnswers&) = delete;
  InquiryAnswers& operator=(const InquiryAnswers&) = delete;

  // `open`: all inquiries of the newest directive. Begins the answers to the
  // new inquiries, and cancels the answers to inquiries that `open` no longer
  // contains. Never answers an inquiry twice.
  void Follow(const std::vector<rendezvous::Inquiry>& open);

  // Records the process id of a running worker with the global rank `rank`, for
  // inquiries about stacks.
  void WorkerUp(int rank, int64_t pid) { pids_[rank] = pid; }
  void WorkerGone(int rank) { pids_.erase(rank); }

  // Called when the workers have ended and the agent is about to exit. Answers
  // of `launch logs -f` end once the workers' output has ended. Waits until
  // then, and until all answers have been sent, but at most `timeout`. Does not
  // wait if there are no answers.
  void Finish(Duration timeout);

 private:
  struct Work;

  void Cancel(Work& work);
  void ForgetEnded();

  const std::string run_id_;
  rendezvous::CoordinatorLink* const link_;
  const std::shared_ptr<RecentOutput> output_;
  std::map<int, int64_t> pids_;
  // The states of answers, by the id of the inquiry. Contains the answers in
  // progress, and those that have ended since the last call of ForgetEnded.
  std::map<uint64_t, std::shared_ptr<Work>> works_;
  // Ids of the newest inquiries whose answers were begun. An inquiry that a
  // directive repeats is not answered again.
  std::deque<uint64_t> begun_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_INQUIRY_ANSWERS_H_
