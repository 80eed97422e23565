#include "trainer_sdk/hierarchical/rank_wording.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace muster {

std::string TellAs(const std::string& message,
                   const std::vector<int>& told_as) {
  const std::string word = "rank ";
  std::string told;
  size_t at = 0;
  for (;;) {
    const size_t found = message.find(word, at);
    if (found == std::string::npos) return told + message.substr(at);
    const size_t begin = found + word.size();
    size_t end = begin;
    // No group has a million ranks on one host; longer numbers are no ranks.
    while (end < message.size() && end - begin < 6 &&
           std::isdigit(static_cast<unsigned char>(message[end])) != 0) {
      ++end;
    }
    told += message.substr(at, begin - at);
    const size_t rank = end > begin
                            ? std::stoul(message.substr(begin, end - begin))
                            : told_as.size();
    told += rank < told_as.size() ? std::to_string(told_as[rank])
                                  : message.substr(begin, end - begin);
    at = end;
  }
}

std::string AfterLast(const std::string& heading, const std::string& message) {
  const size_t found = message.rfind(heading);
  return found == std::string::npos ? message
                                    : message.substr(found + heading.size());
}

std::string WithoutSteps(const std::string& message,
                         const std::string& instead) {
  const std::string step = "has not called it: its last collective was ";
  std::string told;
  size_t at = 0;
  for (;;) {
    const size_t found = message.find(step, at);
    if (found == std::string::npos) return told + message.substr(at);
    told += message.substr(at, found - at) + instead;
    // A semicolon begins what is told of another rank.
    at = std::min(message.find(';', found), message.size());
  }
}

}  // namespace muster
