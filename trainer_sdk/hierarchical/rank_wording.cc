#include "trainer_sdk/hierarchical/rank_wording.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>

namespace muster {
namespace {

const char kRank[] = "rank ";
const char kFound[] = " found: ";

// Returns the length of a text such as "rank 3 found: " at the end of `text`; 0
// if there is none.
size_t FinderAtEnd(const std::string& text) {
  const std::string found = kFound;
  if (text.size() < found.size() ||
      text.compare(text.size() - found.size(), found.size(), found) != 0) {
    return 0;
  }
  const size_t end = text.size() - found.size();
  size_t begin = end;
  while (begin > 0 &&
         std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0) {
    --begin;
  }
  const std::string rank = kRank;
  if (begin == end || begin < rank.size() ||
      text.compare(begin - rank.size(), rank.size(), rank) != 0) {
    return 0;
  }
  return text.size() - (begin - rank.size());
}

// Whether `text` begins like a description of an operation: "barrier #1", "send
// after #3".
bool IsCall(std::string_view text) {
  const size_t name = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
  if (name == 0 || name == std::string_view::npos) return false;
  for (const std::string_view number : {" #", " after #"}) {
    if (text.substr(name, number.size()) == number) return true;
  }
  return false;
}

}  // namespace

std::string WithGroupRanks(const std::string& message,
                           const std::vector<int>& ranks_in_errors) {
  const std::string word = kRank;
  std::string told;
  size_t at = 0;
  for (;;) {
    const size_t found = message.find(word, at);
    if (found == std::string::npos) return told + message.substr(at);
    const size_t begin = found + word.size();
    size_t end = begin;
    // Read at most 6 digits: no host has a million ranks of a group, so longer
    // numbers are not ranks.
    while (end < message.size() && end - begin < 6 &&
           std::isdigit(static_cast<unsigned char>(message[end])) != 0) {
      ++end;
    }
    told += message.substr(at, begin - at);
    const size_t rank = end > begin
                            ? std::stoul(message.substr(begin, end - begin))
                            : ranks_in_errors.size();
    told += rank < ranks_in_errors.size()
                ? std::to_string(ranks_in_errors[rank])
                : message.substr(begin, end - begin);
    at = end;
  }
}

std::string WithoutCalls(const std::string& message) {
  constexpr std::string_view kEnd = ": ";
  size_t rest = 0;
  size_t at = 0;
  for (size_t end = message.find(kEnd); end != std::string::npos;
       end = message.find(kEnd, at)) {
    const bool is_call = IsCall(std::string_view(message).substr(at, end - at));
    at = end + kEnd.size();
    if (is_call) rest = at;
  }
  return message.substr(rest);
}

std::string WithFinderGroupRank(const std::string& message,
                                const std::vector<int>& ranks_in_errors) {
  const std::string found = kFound;
  const size_t at = message.find(found);
  if (at == std::string::npos) return message;
  const std::string beginning = message.substr(0, at + found.size());
  if (FinderAtEnd(beginning) != beginning.size()) return message;
  return WithGroupRanks(beginning, ranks_in_errors) +
         message.substr(beginning.size());
}

std::string FromLast(const std::string& heading, const std::string& message) {
  const size_t found = message.rfind(heading);
  if (found == std::string::npos) return heading + message;
  return message.substr(found - FinderAtEnd(message.substr(0, found)));
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
    // Skip the name of the internal step, which ends at a semicolon (text about
    // another rank follows) or at the end of the message.
    at = std::min(message.find(';', found), message.size());
  }
}

}  // namespace muster
