#include "rendezvous/server/inquiry_session.h"

#include <utility>
#include <vector>

namespace muster::rendezvous {
namespace {

// The assumed memory in bytes of a line, stack or note in addition to its text.
constexpr size_t kElementBytes = 64;

size_t SizeOf(const AnswerPart& part) {
  size_t bytes = kElementBytes;
  for (const OutputLine& line : part.lines) {
    bytes += line.text.size() + kElementBytes;
  }
  for (const RankStack& stack : part.stacks) {
    for (const std::string& line : stack.lines) {
      bytes += line.size() + kElementBytes;
    }
    bytes += kElementBytes;
  }
  for (const std::string& note : part.notes) {
    bytes += note.size() + kElementBytes;
  }
  return bytes;
}

}  // namespace

void OpenInquiry::Ask(uint64_t id, const std::string& node_id,
                      const std::string& host) {
  // If the node was asked before, its connection has broken since then, and the
  // rest of its earlier answer will not come. Forget the part that has come, so
  // that a node that reconnects often does not use more and more memory.
  const auto before = newest_.find(node_id);
  if (before != newest_.end()) answers_.erase(before->second);
  answers_[id] = {.node_id = node_id, .host = host};
  newest_[node_id] = id;
  ++pending_;
}

const OpenInquiry::Answer* OpenInquiry::NewestOf(
    const std::string& node_id) const {
  const auto newest = newest_.find(node_id);
  return newest == newest_.end() ? nullptr : &answers_.at(newest->second);
}

bool OpenInquiry::IsAsked(const std::string& node_id) const {
  const Answer* const answer = NewestOf(node_id);
  return answer != nullptr && answer->stage != Stage::kLost;
}

bool OpenInquiry::IsLost(const std::string& node_id) const {
  const Answer* const answer = NewestOf(node_id);
  return answer != nullptr && answer->stage == Stage::kLost;
}

bool OpenInquiry::IsPending(uint64_t id) const {
  const auto found = answers_.find(id);
  return !closed_ && found != answers_.end() &&
         (found->second.stage == Stage::kAsked ||
          found->second.stage == Stage::kAnswering);
}

std::vector<std::string> OpenInquiry::Silent() const {
  std::vector<std::string> hosts;
  for (const auto& [id, answer] : answers_) {
    if (answer.stage == Stage::kAsked) hosts.push_back(answer.host);
  }
  return hosts;
}

void OpenInquiry::Queue(InquiryUpdate update) {
  bytes_ += SizeOf(update.part);
  updates_.push_back(std::move(update));
}

void OpenInquiry::Miss(const std::string& node_id, const std::string& host,
                       const std::string& why) {
  if (closed_) return;
  Queue({.node_id = node_id, .host = host, .part = {}, .missing = why});
}

bool OpenInquiry::Begin(uint64_t id) {
  const auto found = answers_.find(id);
  if (closed_ || found == answers_.end() ||
      found->second.stage != Stage::kAsked) {
    return false;
  }
  found->second.stage = Stage::kAnswering;
  return true;
}

OpenInquiry::Taken OpenInquiry::Take(uint64_t id, AnswerPart part) {
  const auto found = answers_.find(id);
  if (closed_ || found == answers_.end() ||
      found->second.stage != Stage::kAnswering) {
    return Taken::kUnwanted;
  }
  Answer& answer = found->second;
  if (SizeOf(part) > 2 * kMaxPartBytes) {
    Lose(id, "it sent a part of an answer that is too large");
    return Taken::kUnwanted;
  }
  const bool is_last = part.is_last;
  Queue({.node_id = answer.node_id,
         .host = answer.host,
         .part = std::move(part),
         .missing = ""});
  if (is_last) End(answer, Stage::kComplete);
  return HasRoom() ? Taken::kYes : Taken::kFull;
}

void OpenInquiry::End(Answer& answer, Stage stage) {
  answer.stage = stage;
  --pending_;
}

void OpenInquiry::Lose(uint64_t id, const std::string& why) {
  if (!IsPending(id)) return;
  Answer& answer = answers_.at(id);
  End(answer, Stage::kLost);
  Miss(answer.node_id, answer.host, why);
}

void OpenInquiry::LoseAll(const std::string& why) {
  for (const auto& [id, answer] : answers_) Lose(id, why);
}

void OpenInquiry::Close() {
  closed_ = true;
  updates_.clear();
  bytes_ = 0;
}

std::optional<InquiryUpdate> OpenInquiry::Next() {
  if (updates_.empty()) return std::nullopt;
  InquiryUpdate next = std::move(updates_.front());
  updates_.pop_front();
  bytes_ -= SizeOf(next.part);
  return next;
}

template <typename Change>
void InquirySession::Apply(Change change) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    change(open_);
  }
  on_news_();
}

// Calls the callback `on_room` (see Begin) of each node that waits to send the
// next part of its answer, if the buffer has room now. The buffer contains the
// parts of all answers that the operator has not read.
void InquirySession::WakeWaiting() {
  std::vector<std::function<void()>> wake;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!open_.HasRoom()) return;
    for (auto& [id, answerer] : answerers_) {
      if (std::exchange(answerer.waits, false)) {
        wake.push_back(answerer.on_room);
      }
    }
  }
  for (const auto& on_room : wake) on_room();
}

std::optional<InquiryUpdate> InquirySession::Next() {
  std::optional<InquiryUpdate> next;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    next = open_.Next();
  }
  if (next.has_value()) WakeWaiting();
  return next;
}

bool InquirySession::IsOver() {
  std::lock_guard<std::mutex> lock(mutex_);
  return open_.IsOver();
}

std::vector<std::string> InquirySession::Silent() {
  std::lock_guard<std::mutex> lock(mutex_);
  return open_.Silent();
}

void InquirySession::Close() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    open_.Close();
  }
  WakeWaiting();
}

void InquirySession::Ask(uint64_t id, const std::string& node_id,
                         const std::string& host) {
  std::lock_guard<std::mutex> lock(mutex_);
  open_.Ask(id, node_id, host);
}

bool InquirySession::IsAsked(const std::string& node_id) {
  std::lock_guard<std::mutex> lock(mutex_);
  return open_.IsAsked(node_id);
}

bool InquirySession::IsLost(const std::string& node_id) {
  std::lock_guard<std::mutex> lock(mutex_);
  return open_.IsLost(node_id);
}

bool InquirySession::IsPending(uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex_);
  return open_.IsPending(id);
}

void InquirySession::Miss(const std::string& node_id, const std::string& host,
                          const std::string& why) {
  Apply([&](OpenInquiry& open) { open.Miss(node_id, host, why); });
}

void InquirySession::Lose(uint64_t id, const std::string& why) {
  Apply([&](OpenInquiry& open) { open.Lose(id, why); });
}

void InquirySession::LoseAll(const std::string& why) {
  Apply([&](OpenInquiry& open) { open.LoseAll(why); });
}

void InquirySession::AskNoMore() {
  Apply([&](OpenInquiry& open) { open.AskNoMore(); });
}

bool InquirySession::Begin(uint64_t id, std::function<void()> on_room) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!open_.Begin(id)) return false;
  answerers_[id] = {.on_room = std::move(on_room)};
  return true;
}

OpenInquiry::Taken InquirySession::Take(uint64_t id, AnswerPart part) {
  OpenInquiry::Taken taken = OpenInquiry::Taken::kUnwanted;
  const bool is_last = part.is_last;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    taken = open_.Take(id, std::move(part));
    if (taken == OpenInquiry::Taken::kUnwanted || is_last) {
      answerers_.erase(id);
    } else {
      answerers_[id].waits = taken == OpenInquiry::Taken::kFull;
    }
  }
  on_news_();
  return taken;
}

}  // namespace muster::rendezvous
