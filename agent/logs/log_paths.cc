#include "agent/logs/log_paths.h"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace muster::agent {
namespace {

// The maximum length in bytes of a name without its hash; with the hash it
// stays well below NAME_MAX (255).
constexpr size_t kMaxNameBytes = 128;
constexpr char kLatest[] = "latest";

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

// The 32-bit FNV-1a hash of `text`.
uint32_t Hash(std::string_view text) {
  uint32_t hash = 2166136261u;
  for (char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  }
  return hash;
}

std::string SafeName(const std::string& text) {
  std::string name = text.substr(0, kMaxNameBytes);
  for (char& c : name) {
    if (!IsPlain(c)) c = '_';
  }
  // Replaces an empty name, and a dot at the beginning, so that ".", ".." and
  // hidden names cannot occur.
  if (name.empty()) name = "_";
  if (name[0] == '.') name[0] = '_';
  if (name == text && name != kLatest) return name;
  char suffix[16];
  std::snprintf(suffix, sizeof suffix, "-%08x", Hash(text));
  return name + suffix;
}

}  // namespace

std::string RunFolder(const std::string& directory,
                      const std::string& run_name) {
  return directory + "/" + SafeName(run_name);
}

std::string TaggedRunName(const std::string& run_name, const std::string& tag) {
  return tag.empty() ? run_name : run_name + "_" + tag;
}

std::string EventLogPath(const std::string& directory,
                         const std::string& run_name) {
  return RunFolder(directory, run_name) + "/events.jsonl";
}

std::string LatestLink(const std::string& directory) {
  return directory + "/" + kLatest;
}

std::string AttemptFolder(const std::string& run_folder, int attempt) {
  return run_folder + "/attempt_" + std::to_string(attempt);
}

std::string WorkerFolder(const std::string& run_folder, int attempt, int rank) {
  return AttemptFolder(run_folder, attempt) + "/" + std::to_string(rank);
}

void PointLatestAt(const std::string& run_folder,
                   const std::string& directory) {
  const std::string link = LatestLink(directory);
  const std::string fresh = link + "." + std::to_string(getpid());
  std::error_code error;
  const auto status = std::filesystem::symlink_status(link, error);
  const bool is_other = status.type() != std::filesystem::file_type::symlink &&
                        status.type() != std::filesystem::file_type::not_found;
  if (is_other) return;
  std::filesystem::create_directory_symlink(
      std::filesystem::path(run_folder).filename(), fresh, error);
  if (error) return;
  std::filesystem::rename(fresh, link, error);
  if (error) unlink(fresh.c_str());
}

}  // namespace muster::agent
