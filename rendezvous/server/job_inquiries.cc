#include "rendezvous/server/job_inquiries.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "rendezvous/protocol/inquiry.h"

namespace muster::rendezvous {
namespace {

bool IsNamed(const NodeSeat& seat, const std::string& node) {
  return seat.node_id == node || seat.host == node;
}

bool HasRank(const NodeSeat& seat, int rank) {
  return seat.first_rank >= 0 && rank >= seat.first_rank &&
         rank < seat.first_rank + seat.slots;
}

// Whether the node has output or stacks that the operator asks for.
bool Concerns(const Inquiry& question, const std::string& node,
              const NodeSeat& seat) {
  if (!node.empty() && !IsNamed(seat, node)) return false;
  if (question.ranks.empty()) return seat.first_rank >= 0 || !node.empty();
  return std::ranges::any_of(question.ranks,
                             [&](int rank) { return HasRank(seat, rank); });
}

}  // namespace

absl::Status CheckInquiry(const Inquiry& question, const std::string& node,
                          const std::vector<NodeSeat>& seats) {
  int world_size = 0;
  for (const NodeSeat& seat : seats) {
    if (seat.first_rank < 0) continue;
    world_size = std::max(world_size, seat.first_rank + seat.slots);
  }
  const bool is_known =
      node.empty() || std::ranges::any_of(seats, [&](const NodeSeat& seat) {
        return IsNamed(seat, node);
      });
  if (!is_known) {
    return absl::InvalidArgumentError(
        absl::StrCat("the job has no node \"", node, "\"; see launch status"));
  }
  if (question.follow == Inquiry::Follow::kYes) return absl::OkStatus();
  if (world_size == 0) {
    return absl::FailedPreconditionError(
        "no round of the job has begun, so it has no workers yet");
  }
  for (const int rank : question.ranks) {
    const bool has_it = std::ranges::any_of(seats, [&](const NodeSeat& seat) {
      return HasRank(seat, rank) && (node.empty() || IsNamed(seat, node));
    });
    if (has_it) continue;
    return absl::InvalidArgumentError(
        rank < world_size
            ? absl::StrCat("rank ", rank,
                           node.empty()
                               ? " is on no node that is connected"
                               : absl::StrCat(" is not on node \"", node, "\""))
            : absl::StrCat("the job has no rank ", rank,
                           "; its ranks are 0 to ", world_size - 1));
  }
  return absl::OkStatus();
}

bool JobInquiries::Add(const Session& session, const std::string& node) {
  if (open_.size() >= kMaxInquiries) return false;
  const auto follows = [](const Session& each) {
    return each->question().follow == Inquiry::Follow::kYes;
  };
  const auto followers = std::ranges::count_if(
      open_, [&](const Open& open) { return follows(open.session); });
  if (follows(session) && followers >= kMaxFollowers) return false;
  open_.push_back({session, node});
  return true;
}

std::set<StreamId> JobInquiries::Remove(const Session& session) {
  std::set<StreamId> streams;
  for (const auto& [id, asked] : asked_) {
    if (asked.session == session && session->IsPending(id)) {
      streams.insert(asked.stream);
    }
  }
  session->Close();
  std::erase_if(
      asked_, [&](const auto& each) { return each.second.session == session; });
  std::erase_if(open_,
                [&](const Open& open) { return open.session == session; });
  return streams;
}

std::set<StreamId> JobInquiries::Ask(const Session& session,
                                     const std::vector<NodeSeat>& seats) {
  for (const Open& open : open_) {
    if (open.session == session) return Ask(open, seats);
  }
  return {};
}

std::set<StreamId> JobInquiries::AskFollowed(
    const std::vector<NodeSeat>& seats) {
  std::set<StreamId> streams;
  for (const Open& open : open_) {
    if (open.session->question().follow == Inquiry::Follow::kNo) continue;
    streams.merge(Ask(open, seats));
  }
  return streams;
}

std::set<StreamId> JobInquiries::Ask(const Open& open,
                                     const std::vector<NodeSeat>& seats) {
  std::set<StreamId> streams;
  InquirySession& session = *open.session;
  for (const NodeSeat& seat : seats) {
    if (!Concerns(session.question(), open.node, seat)) continue;
    if (session.IsAsked(seat.node_id)) continue;
    const bool again = session.IsLost(seat.node_id);
    if (seat.stream == 0) {
      if (!again) {
        session.Miss(seat.node_id, seat.host,
                     "it is not connected to the coordinator");
      }
      continue;
    }
    Inquiry inquiry = session.question();
    inquiry.id = draw_id_();
    // A node is asked again if its earlier answer broke off. It then sends no
    // old lines: the operator has already read its output up to that time.
    if (again) inquiry.lines = 0;
    session.Ask(inquiry.id, seat.node_id, seat.host);
    asked_[inquiry.id] = {seat.stream, inquiry, open.session};
    streams.insert(seat.stream);
  }
  return streams;
}

void JobInquiries::OnClosed(StreamId stream) {
  for (const auto& [id, asked] : asked_) {
    if (asked.stream != stream) continue;
    asked.session->Lose(id, "its connection to the coordinator was lost");
  }
  std::erase_if(asked_,
                [&](const auto& each) { return each.second.stream == stream; });
}

void JobInquiries::AskNoMore() {
  for (const Open& open : open_) open.session->AskNoMore();
}

void JobInquiries::LoseAll(const std::string& why) {
  for (const Open& open : open_) {
    open.session->LoseAll(why);
    open.session->AskNoMore();
  }
}

std::vector<Inquiry> JobInquiries::For(StreamId stream) const {
  std::vector<Inquiry> inquiries;
  for (const auto& [id, asked] : asked_) {
    if (asked.stream == stream && asked.session->IsPending(id)) {
      inquiries.push_back(asked.inquiry);
    }
  }
  return inquiries;
}

JobInquiries::Session JobInquiries::Find(uint64_t id) const {
  const auto found = asked_.find(id);
  return found == asked_.end() ? nullptr : found->second.session;
}

}  // namespace muster::rendezvous
