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

// A cache of answers. Each answer is reused for a time that is proportional to
// the time that it took to make. So a server spends at most 1 / (kReuse + 1) of
// a core on the answers to one question, whatever the number of callers. An
// answer that took 30 ms is up to 0.6 s old; one that took 50 us is up to 1 ms
// old. Pure: time and cost are arguments.
template <typename Answer>
class AnswerCache {
 public:
  // An answer that took the time t to make is reused for kReuse * t.
  static constexpr int kReuse = 20;
  // Maximum number of answers in the cache.
  static constexpr size_t kMaxAnswers = 16;

  // Returns the cached answer to `question` if it is fresh enough; else
  // nullopt.
  std::optional<Answer> Find(Instant now, const std::string& question) const {
    const auto found = kept_.find(question);
    if (found == kept_.end() || found->second.until <= now) return std::nullopt;
    return found->second.answer;
  }

  // Removes expired answers, then caches an answer that took `cost` to make. If
  // the cache still contains kMaxAnswers answers to other questions, the new
  // answer is not cached.
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
