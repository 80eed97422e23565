#ifndef MUSTER_AGENT_LOGS_STREAM_FILTER_H_
#define MUSTER_AGENT_LOGS_STREAM_FILTER_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::agent {

// --duplicate-stdout-filters, --duplicate-stderr-filters: selects the lines
// that contain at least one of some texts, case-sensitive, as in torchrun.
// Pure.
class StreamFilter {
 public:
  // Empty texts are removed: they would select every line.
  explicit StreamFilter(std::vector<std::string> texts)
      : texts_(std::move(texts)) {
    std::erase_if(texts_, [](const std::string& text) { return text.empty(); });
  }

  // Whether there is no text to search.
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
