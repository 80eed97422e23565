// A test worker that performs the steps that its arguments name, in order.
// "say-into FIFO" makes that named pipe the stdout of the worker and of its
// future children, which hold it open.

#include <dirent.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

extern char** environ;

namespace {

[[noreturn]] void PauseForEver() {
  while (true) pause();
}

// Forks. The parent calls `as_parent`, which does not return. The child returns
// from ForkAnd and performs the remaining steps.
void ForkAnd(const std::function<void()>& as_parent) {
  std::cout.flush();
  if (fork() != 0) as_parent();
}

// Forks and exits again and again for a while, so that no single process lives
// long, and then pauses. The number of forks is limited, and a failed fork ends
// the chain, so that a failing test does not harm the machine.
[[noreturn]] void ForkRepeatedly() {
  for (int hops = 0; hops < 2000; ++hops) {
    if (fork() != 0) _exit(0);
  }
  PauseForEver();
}

void SayStdin() {
  struct stat own = {};
  struct stat null = {};
  fstat(STDIN_FILENO, &own);
  stat("/dev/null", &null);
  std::cout << (own.st_rdev == null.st_rdev ? "null" : "other") << std::endl;
}

void SayDescriptors() {
  std::vector<int> open_ones;
  DIR* const listing = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(listing)) {
    const int fd = std::atoi(entry->d_name);
    const bool number = entry->d_name[0] != '.';
    if (number && fd != dirfd(listing)) open_ones.push_back(fd);
  }
  closedir(listing);
  std::sort(open_ones.begin(), open_ones.end());
  for (const int fd : open_ones) std::cout << fd << " ";
  std::cout << std::endl;
}

// Prints the numbers of the blocked or ignored signals.
void SaySignals() {
  sigset_t mask;
  sigprocmask(SIG_BLOCK, nullptr, &mask);
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action = {};
    if (sigismember(&mask, signal) == 1) std::cout << signal << " blocked ";
    if (sigaction(signal, nullptr, &action) == 0 &&
        action.sa_handler == SIG_IGN) {
      std::cout << signal << " ignored ";
    }
  }
  std::cout << "end" << std::endl;
}

void SaySizes(int argc, char** argv) {
  size_t arguments = 0;
  for (int i = 0; i < argc; ++i) {
    arguments += std::char_traits<char>::length(argv[i]);
  }
  size_t variables = 0;
  for (char** one = environ; *one != nullptr; ++one) {
    variables += std::char_traits<char>::length(*one);
  }
  std::cout << arguments << " " << variables << std::endl;
}

// Prints the bytes in the pipe whose descriptor MUSTER_CHANNEL_KEY_PIPE names.
void SayKey() {
  char key[64] = {};
  const ssize_t count =
      read(std::atoi(std::getenv("MUSTER_CHANNEL_KEY_PIPE")), key, sizeof(key));
  std::cout << std::string(key, count > 0 ? count : 0) << std::endl;
}

// Prints the CPUs that this process may run on, as the kernel writes them.
void SayCpus() {
  const std::string name = "Cpus_allowed_list:\t";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(name, 0) == 0) {
      std::cout << line.substr(name.size()) << std::endl;
    }
  }
}

// Prints the number of this process's NUMA memory policy and the first word of
// its node mask.
void SayMemory() {
  int policy = -1;
  unsigned long nodes[1024 / 8 / sizeof(unsigned long)] = {};
  if (syscall(SYS_get_mempolicy, &policy, nodes, 1024, nullptr, 0) != 0) {
    std::cout << "unknown" << std::endl;
    return;
  }
  std::cout << policy << " of " << nodes[0] << std::endl;
}

void SayDirectory() {
  char path[4096];
  std::cout << getcwd(path, sizeof path) << std::endl;
}

void SayVariable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  std::cout << (value == nullptr ? "(unset)" : value) << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void()>> acts = {
      {"pause", PauseForEver},
      {"ignore-term", [] { std::signal(SIGTERM, SIG_IGN); }},
      {"setsid", [] { setsid(); }},
      {"fork-and-pause", [] { ForkAnd(PauseForEver); }},
      {"fork-and-exit", [] { ForkAnd([] { _exit(0); }); }},
      {"hop", ForkRepeatedly},
      {"say-pid", [] { std::cout << getpid() << std::endl; }},
      {"say-group", [] { std::cout << getpgrp() << std::endl; }},
      {"say-session", [] { std::cout << getsid(0) << std::endl; }},
      {"say-stdin", SayStdin},
      {"say-descriptors", SayDescriptors},
      {"say-signals", SaySignals},
      {"say-sizes", [=] { SaySizes(argc, argv); }},
      {"say-directory", SayDirectory},
      {"say-key", SayKey},
      {"say-cpus", SayCpus},
      {"say-memory", SayMemory},
      {"err", [] { std::cerr << "to stderr" << std::endl; }},
  };
  for (int i = 1; i < argc; ++i) {
    const std::string act = argv[i];
    if (act == "exit") _exit(std::atoi(argv[i + 1]));
    if (act == "raise") raise(std::atoi(argv[i + 1]));
    if (act == "ignore-rest") break;
    if (act == "say-into") {
      if (std::freopen(argv[++i], "w", stdout) == nullptr) return 98;
      continue;
    }
    if (act == "say-variable") {
      SayVariable(argv[++i]);
      continue;
    }
    const auto found = acts.find(act);
    if (found == acts.end()) return 99;
    found->second();
  }
  return 0;
}
