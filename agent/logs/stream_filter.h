#ifndef MUSTER_AGENT_LOGS_STREAM_FILTER_H_
#define MUSTER_AGENT_LOGS_STREAM_FILTER_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::agent {

// --duplicate-stdout-filters, --duplicate-stderr-filters: picks the lines that
// contain at least one of some texts, case counting, as torchrun does. Pure.
class StreamFilter {
 public:
  // Empty texts are left out: they would pick everything.
  explicit StreamFilter(std::vector<std::string> texts)
      : texts_(std::move(texts)) {
    std::erase_if(texts_, [](const std::string& text) { return text.empty(); });
  }

  // Whether there is nothing to look for.
  bool empty() const { return texts_.empty(); }

  bool Matches(std::string_view line) const {
    for (const std::string& text : texts_) {
      if (line.find(text) != std::string_view::npos) return true;
    }
    return false;
  }

 private:
  std::vector<std::string> texts_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_STREAM_FILTER_H_
