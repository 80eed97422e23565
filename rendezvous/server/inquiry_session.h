#ifndef MUSTER_RENDEZVOUS_SERVER_INQUIRY_SESSION_H_
#define MUSTER_RENDEZVOUS_SERVER_INQUIRY_SESSION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rendezvous/protocol/inquiry.h"
#include "rendezvous/server/open_inquiry.h"

namespace muster::rendezvous {

// One inquiry: a question of an operator (`launch logs`, `launch stacks`) to
// the nodes of a job. The operator's stream, the streams of the nodes' answers
// and the job share this object. Functions with the same names as in
// OpenInquiry have the contracts described there. Thread-safe. Calls the
// callbacks without holding its lock.
class InquirySession {
 public:
  // `on_news`: called when Next or IsOver may return something new. Any thread,
  // perhaps with the job's lock held. Must not call the coordinator.
  InquirySession(Inquiry question, std::function<void()> on_news)
      : question_(std::move(question)),
        on_news_(std::move(on_news)),
        open_(question_.follow == Inquiry::Follow::kYes
                  ? OpenInquiry::Further::kAwaited
                  : OpenInquiry::Further::kNone) {}

  const Inquiry& question() const { return question_; }

  // --- Functions for the operator's stream
  std::optional<InquiryUpdate> Next();
  bool IsOver();
  std::vector<std::string> Silent();
  void Close();

  // --- Functions that the job whose nodes are asked calls (JobInquiries)
  void Ask(uint64_t id, const std::string& node_id, const std::string& host);
  bool IsAsked(const std::string& node_id);
  bool IsLost(const std::string& node_id);
  bool IsPending(uint64_t id);
  void Miss(const std::string& node_id, const std::string& host,
            const std::string& why);
  void Lose(uint64_t id, const std::string& why);
  void LoseAll(const std::string& why);
  void AskNoMore();

  // --- Functions for the stream of a node's answer

  // `on_room`: called once after each Take that returned kFull, from any
  // thread: there is room now, or the answer is not wanted any more.
  bool Begin(uint64_t id, std::function<void()> on_room);
  OpenInquiry::Taken Take(uint64_t id, AnswerPart part);

 private:
  template <typename Change>
  void Apply(Change change);
  void WakeWaiting();

  const Inquiry question_;
  const std::function<void()> on_news_;

  std::mutex mutex_;  // guards the fields below
  OpenInquiry open_;
  struct Answerer {
    std::function<void()> on_room;
    bool waits = false;
  };
  std::map<uint64_t, Answerer> answerers_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_INQUIRY_SESSION_H_
