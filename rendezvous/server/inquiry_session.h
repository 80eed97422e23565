#ifndef MUSTER_RENDEZVOUS_SERVER_INQUIRY_SESSION_H_
#define MUSTER_RENDEZVOUS_SERVER_INQUIRY_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rendezvous/protocol/inquiry.h"

namespace muster::rendezvous {

// The state of one inquiry, which is a question of an operator (`launch logs`,
// `launch stacks`) to nodes: the nodes that are asked, and the parts of their
// answers that the operator has not read. Pure. Not thread-safe.
class OpenInquiry {
 public:
  // Once this many bytes are buffered, nodes must wait before they send another
  // part. Each node may already be sending a part. So the buffer may exceed the
  // limit by one part for each node.
  static constexpr size_t kFullBytes = 256 << 10;

  // Whether the operator's question may later be put to further nodes. kNone:
  // no, so the inquiry ends once all asked nodes have answered. kAwaited: yes,
  // so the inquiry stays open even then.
  enum class Further { kNone, kAwaited };
  explicit OpenInquiry(Further further) : further_(further) {}

  // Records that a node is asked. `id`: the inquiry's id for this node, which
  // must be new.
  void Ask(uint64_t id, const std::string& node_id, const std::string& host);
  // Whether the node was asked, and its newest answer is pending, in progress
  // or complete. False if that answer was lost before its last part arrived.
  bool IsAsked(const std::string& node_id) const;
  // Whether the answer of this node ended before its last part had arrived.
  bool IsLost(const std::string& node_id) const;
  // Adds a note for the operator: this node does not get the inquiry, for the
  // reason `why`.
  void Miss(const std::string& node_id, const std::string& host,
            const std::string& why);

  // Records that a node begins to answer. `id`: the inquiry's id for this node.
  // Returns false if no node was asked with this id, if the answer has begun
  // before, or if the answer is not wanted any more.
  bool Begin(uint64_t id);
  enum class Taken {
    kYes,
    kFull,      // the part was taken; the node must wait until HasRoom
    kUnwanted,  // dropped: no part of this answer is wanted any more
  };
  Taken Take(uint64_t id, AnswerPart part);
  // Ends an answer that is not complete, and tells the operator why.
  void Lose(uint64_t id, const std::string& why);
  // Ends all answers that are not complete.
  void LoseAll(const std::string& why);
  // Records that no further node will be asked.
  void AskNoMore() { further_ = Further::kNone; }
  // Records that the operator will read no further update.
  void Close();

  // The next update for the operator; nullopt: none at this time.
  std::optional<InquiryUpdate> Next();
  bool HasRoom() const { return bytes_ < kFullBytes; }
  // The hosts of the nodes that were asked and have not begun to answer.
  std::vector<std::string> Silent() const;
  // Whether the answer with this id is incomplete and still wanted.
  bool IsPending(uint64_t id) const;
  // Whether no node has to answer any more and the operator has read
  // everything.
  bool IsOver() const {
    return closed_ ||
           (further_ == Further::kNone && pending_ == 0 && updates_.empty());
  }

 private:
  enum class Stage { kAsked, kAnswering, kComplete, kLost };
  struct Answer {
    std::string node_id;
    std::string host;
    Stage stage = Stage::kAsked;
  };

  void Queue(InquiryUpdate update);
  void End(Answer& answer, Stage stage);
  const Answer* NewestOf(const std::string& node_id) const;

  Further further_;
  std::map<uint64_t, Answer> answers_;
  // The newest id of the inquiry for each node. Key: node id.
  std::map<std::string, uint64_t> newest_;
  int pending_ = 0;  // number of answers that are not complete or lost
  std::deque<InquiryUpdate> updates_;
  size_t bytes_ = 0;  // bytes buffered in updates_
  bool closed_ = false;
};

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
