#include "agent/health/small_file.h"

#include <dirent.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/bounded_file.h"

namespace muster::agent {

std::string ReadWord(const std::string& path) {
  const std::string text = ReadBeginning(path, 4096).value_or("");
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::optional<int64_t> LeadingNumber(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return std::nullopt;
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data() + begin, text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

std::optional<int64_t> ReadCount(const std::string& path) {
  return LeadingNumber(ReadWord(path));
}

std::vector<std::string> ListFolder(const std::string& path, size_t most) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()),
                                                   closedir);
  std::vector<std::string> names;
  if (folder == nullptr) return names;
  while (names.size() < most) {
    const dirent* entry = readdir(folder.get());
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace muster::agent
