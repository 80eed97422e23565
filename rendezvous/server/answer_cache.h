#ifndef MUSTER_RENDEZVOUS_SERVER_ANSWER_CACHE_H_
#define MUSTER_RENDEZVOUS_SERVER_ANSWER_CACHE_H_

#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/time.h"

namespace muster::rendezvous {

// Answers that are given again for a time in proportion to what they cost, so
// that callers, however many, cannot make a server spend more than 1 /
// (kReuse + 1) of a core on making answers. An answer that took 30 ms is up to
// 0.6 s old; one that took 50 us is up to 1 ms old. Pure: time and cost are
// arguments.
template <typename Answer>
class AnswerCache {
 public:
  // How much longer than its making an answer is given again.
  static constexpr int kReuse = 20;
  // Limit of the answers that are kept.
  static constexpr size_t kMaxAnswers = 16;

  // The answer to `question` if it is fresh enough; else nullopt.
  std::optional<Answer> Find(Instant now, const std::string& question) const {
    const auto found = kept_.find(question);
    if (found == kept_.end() || found->second.until <= now) return std::nullopt;
    return found->second.answer;
  }

  // Keeps an answer that took `cost` to make. Drops those that are too old.
  void Keep(Instant now, const std::string& question, Answer answer,
            Duration cost) {
    for (auto one = kept_.begin(); one != kept_.end();) {
      one = one->second.until <= now ? kept_.erase(one) : std::next(one);
    }
    if (kept_.size() >= kMaxAnswers && kept_.count(question) == 0) return;
    kept_.insert_or_assign(question,
                           Kept{std::move(answer), now + cost * kReuse});
  }

  size_t size() const { return kept_.size(); }

 private:
  struct Kept {
    Answer answer;
    Instant until;
  };
  std::map<std::string, Kept> kept_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_ANSWER_CACHE_H_
