#include "launcher/ssh/read_front.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/bounded_file.h"
#include "base/environment_value.h"
#include "base/own_program.h"
#include "launcher/hostfile/host_file.h"
#include "launcher/hostfile/host_filter.h"
#include "launcher/ssh/remote_environment.h"
#include "rendezvous/token/token.h"
#include "rendezvous/version.h"

namespace muster::launcher {
namespace {

constexpr size_t kMaxEnvironmentBytes = 1 << 20;

absl::StatusOr<std::vector<Host>> ReadHosts(const RemoteOptions& remote) {
  const std::string flag = absl::StrCat("--hostfile=", remote.host_file, ": ");
  const absl::StatusOr<std::string> text =
      ReadBoundedFile(remote.host_file, kMaxHostFileBytes);
  if (!text.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, text.status().message()));
  }
  absl::StatusOr<std::vector<Host>> hosts = ParseHostFile(*text);
  if (!hosts.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, hosts.status().message()));
  }
  return FilterHosts(*std::move(hosts), remote.include, remote.exclude);
}

// A missing file that DS_ENV_FILE names is skipped with a notice, as in
// DeepSpeed: the variable is often set for all working directories.
absl::StatusOr<std::vector<Environment>> ReadEnvironmentFiles(
    const Environment& here, const std::string& working_directory,
    const Voice& voice) {
  const auto named = NonEmptyEnvironmentValue(here, "DS_ENV_FILE");
  const std::string name = named.value_or(".deepspeed_env");
  std::vector<std::string> paths;
  if (name[0] == '/') {
    paths = {name};
  } else {
    const std::string home = EnvironmentValue(here, "HOME").value_or("");
    if (!home.empty()) paths.push_back(absl::StrCat(home, "/", name));
    if (home != working_directory) {
      paths.push_back(absl::StrCat(working_directory, "/", name));
    }
  }
  std::vector<Environment> files;
  for (const std::string& path : paths) {
    const absl::StatusOr<std::string> text =
        ReadBoundedFile(path, kMaxEnvironmentBytes);
    if (absl::IsNotFound(text.status())) continue;
    absl::StatusOr<Environment> read =
        text.ok() ? ParseEnvironmentFile(*text) : text.status();
    if (!read.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": ", read.status().message()));
    }
    files.push_back(*std::move(read));
  }
  if (named && files.empty()) {
    voice.Notice(absl::StrCat(
        "DS_ENV_FILE=", name, ": there is no such file",
        name[0] == '/' ? "" : " in the home folder or the working directory",
        "; no variables are taken from it"));
  }
  return files;
}

// PWD if it is the working directory: it has the symbolic links that the user
// followed, which exist on other hosts, too.
absl::StatusOr<std::string> WorkingDirectory(const Environment& here) {
  struct stat said;
  struct stat real;
  const auto pwd = NonEmptyEnvironmentValue(here, "PWD");
  if (pwd && pwd->front() == '/' && stat(pwd->c_str(), &said) == 0 &&
      stat(".", &real) == 0 && said.st_dev == real.st_dev &&
      said.st_ino == real.st_ino) {
    return *pwd;
  }
  std::array<char, PATH_MAX> path;
  if (getcwd(path.data(), path.size()) == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the working directory has no path: ", std::strerror(errno)));
  }
  return std::string(path.data());
}

std::string FreshToken() {
  std::string bytes(32, 0);
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = getrandom(bytes.data() + done, bytes.size() - done, 0);
    if (got > 0) done += static_cast<size_t>(got);
  }
  return absl::BytesToHexString(bytes);
}

}  // namespace

absl::StatusOr<RemotePlan> ReadFront(
    const RunOptions& options,
    const std::map<std::string, std::string>& environment, const Voice& voice) {
  absl::StatusOr<std::vector<Host>> hosts = ReadHosts(options.remote);
  if (!hosts.ok()) return hosts.status();
  absl::StatusOr<std::string> folder = WorkingDirectory(environment);
  if (!folder.ok()) return folder.status();
  const absl::StatusOr<std::vector<Environment>> files =
      ReadEnvironmentFiles(environment, *folder, voice);
  if (!files.ok()) return files.status();
  absl::StatusOr<Environment> travelling =
      ChooseEnvironment(environment, *files, options.remote.exports);
  if (!travelling.ok()) return travelling.status();
  absl::StatusOr<std::string> token = rendezvous::ReadToken(
      options.token_file,
      [&](const std::string& sentence) { voice.Error(sentence); });
  if (!token.ok()) {
    return absl::InvalidArgumentError(token.status().message());
  }
  const std::string program = OwnProgram();
  return PlanRemote(options, *std::move(hosts),
                    {.launch = program.empty() ? "launch" : program,
                     .version = rendezvous::kVersion,
                     .working_directory = *std::move(folder),
                     .environment = *std::move(travelling),
                     .token = *std::move(token),
                     .fresh_token = FreshToken()});
}

}  // namespace muster::launcher
