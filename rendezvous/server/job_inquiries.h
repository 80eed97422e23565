#ifndef MUSTER_RENDEZVOUS_SERVER_JOB_INQUIRIES_H_
#define MUSTER_RENDEZVOUS_SERVER_JOB_INQUIRIES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "rendezvous/job/directives.h"
#include "rendezvous/job/job_step.h"
#include "rendezvous/protocol/inquiry.h"
#include "rendezvous/server/inquiry_session.h"

namespace muster::rendezvous {

// Checks that an inquiry about `node` (a node id or host name; empty: all
// nodes) concerns at least one node of the job, and that all ranks that the
// inquiry names exist. Errors, each one sentence: InvalidArgument: no such node
// or rank; FailedPrecondition: no round has begun. Pure.
absl::Status CheckInquiry(const Inquiry& question, const std::string& node,
                          const std::vector<NodeSeat>& seats);

// The open inquiries of one job. An inquiry has a different id for each node.
// Not thread-safe; DrivenJob guards it.
class JobInquiries {
 public:
  using Session = std::shared_ptr<InquirySession>;

  // `draw_id` returns a new random number, which is not 0.
  explicit JobInquiries(std::function<uint64_t()> draw_id)
      : draw_id_(std::move(draw_id)) {}

  bool empty() const { return open_.empty(); }
  // Maximum number of open inquiries of one job that follow the workers'
  // output, as `launch logs -f` does. It is smaller than kMaxInquiries, so that
  // some inquiries are left for operators who look for the reason why a job
  // hangs.
  static constexpr int kMaxFollowers = 12;

  // Adds an inquiry. Returns false if there are already kMaxInquiries
  // inquiries. If the inquiry follows the output, also returns false if there
  // are kMaxFollowers such inquiries.
  bool Add(const Session& session, const std::string& node);
  // Removes an inquiry. Returns the streams whose nodes had not answered it
  // completely.
  std::set<StreamId> Remove(const Session& session);

  // Asks the nodes that `session` concerns and that were not asked yet. Reports
  // nodes without a connection as missing. Returns the streams whose inquiries
  // have changed.
  std::set<StreamId> Ask(const Session& session,
                         const std::vector<NodeSeat>& seats);
  // Calls Ask for each inquiry that shows the workers' output as it arrives
  // (`launch logs -f`). Called after the nodes or the round have changed.
  std::set<StreamId> AskFollowed(const std::vector<NodeSeat>& seats);

  // Records that the stream has closed. Its incomplete answers are lost.
  void OnClosed(StreamId stream);
  // Records that the job is over, so that no further node will be asked.
  void AskNoMore();
  // Ends all inquiries. Answers that are not complete are lost.
  void LoseAll(const std::string& why);

  // The inquiries that directives on this stream must contain.
  std::vector<Inquiry> For(StreamId stream) const;
  // The inquiry whose id for one of the nodes is `id`; null: none.
  Session Find(uint64_t id) const;

 private:
  struct Open {
    Session session;
    std::string node;
  };
  // The state of an inquiry at one of the nodes that are asked.
  struct Asked {
    StreamId stream = 0;
    Inquiry inquiry;  // the question with its id for this node
    Session session;
  };

  std::set<StreamId> Ask(const Open& open, const std::vector<NodeSeat>& seats);

  const std::function<uint64_t()> draw_id_;
  std::vector<Open> open_;
  std::map<uint64_t, Asked> asked_;  // key: Inquiry::id
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_JOB_INQUIRIES_H_
