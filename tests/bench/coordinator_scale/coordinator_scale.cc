// Measures how many nodes one coordinator can serve: starts rendezvousd, lets
// 100, 1,000 and 10,000 simulated agents, each with its own TCP connection,
// join one job, and prints a table. All processes share this machine's cores.
//
//   coordinator_scale [--shards N] [NODES…]

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/subprocess.h"
#include "tests/bench/coordinator_scale/load_shard.h"

namespace muster {
namespace {

constexpr int kSteadySeconds = 5;

struct Child {
  pid_t pid = 0;
  std::FILE* out = nullptr;  // the read end of the process's stdout
  int in = -1;               // the write end of the process's stdin
};

Child Start(const std::vector<std::string>& command) {
  int to[2];
  int from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
    std::perror("pipe");
    std::exit(1);
  }
  SubprocessPlan plan;
  plan.argv = command;
  plan.environment = EnvironmentWith({});
  plan.descriptors = {to[0], from[1]};
  const absl::StatusOr<pid_t> pid = StartSubprocess(plan);
  if (!pid.ok()) {
    std::fprintf(stderr, "%s\n", pid.status().ToString().c_str());
    std::exit(1);
  }
  close(to[0]);
  close(from[1]);
  return {*pid, fdopen(from[0], "r"), to[1]};
}

void Finish(Child* child) {
  if (child->in >= 0) close(child->in);
  ReapSubprocess(child->pid);
  std::fclose(child->out);
}

long ResidentKib(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/statm";
  std::FILE* file = std::fopen(path.c_str(), "re");
  long total = 0;
  long resident = 0;
  if (file == nullptr || std::fscanf(file, "%ld %ld", &total, &resident) != 2) {
    return 0;
  }
  std::fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

// CPU time of the process in seconds.
double CpuSeconds(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  std::FILE* file = std::fopen(path.c_str(), "re");
  unsigned long user = 0;
  unsigned long system = 0;
  const bool read =
      file != nullptr &&
      std::fscanf(file,
                  "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                  &user, &system) == 2;
  if (file != nullptr) std::fclose(file);
  return read ? static_cast<double>(user + system) / sysconf(_SC_CLK_TCK) : 0;
}

// Measures one row of the table. Returns false if an agent got no place.
bool Measure(const std::string& self, const std::string& daemon, int nodes,
             int shards) {
  Child server = Start({daemon, "--listen", "127.0.0.1:0"});
  int port = 0;
  if (std::fscanf(server.out, "rendezvousd: listening on 127.0.0.1:%d",
                  &port) != 1) {
    std::fprintf(stderr, "no coordinator: %s\n", daemon.c_str());
    std::exit(1);
  }
  const long resident_before = ResidentKib(server.pid);
  std::vector<Child> load;
  for (int i = 0; i < shards; ++i) {
    const int first = nodes * i / shards;
    const int end = nodes * (i + 1) / shards;
    load.push_back(
        Start({self, "--shard", std::to_string(port), std::to_string(nodes),
               std::to_string(first), std::to_string(end - first)}));
  }
  bool placed = true;
  long long first_channel = 0;
  long long last_join = 0;
  long long last_place = 0;
  for (Child& shard : load) {
    int ok = 0;
    long long channel = 0;
    long long join = 0;
    long long place = 0;
    if (std::fscanf(shard.out, "%d %lld %lld %lld", &ok, &channel, &join,
                    &place) != 4) {
      ok = 0;
    }
    placed = placed && ok == 1;
    first_channel =
        first_channel == 0 ? channel : std::min(first_channel, channel);
    last_join = std::max(last_join, join);
    last_place = std::max(last_place, place);
  }
  const long resident = ResidentKib(server.pid) - resident_before;
  const double join_cpu = CpuSeconds(server.pid);
  sleep(kSteadySeconds);
  const double steady_cpu = CpuSeconds(server.pid) - join_cpu;
  for (Child& shard : load) Finish(&shard);
  kill(server.pid, SIGTERM);
  Finish(&server);
  const double joining = (last_join - first_channel) * 1e-9;
  std::printf(
      "| %6d | %8.2f | %8.0f | %10.0f | %9.1f | %10.0f | %6.2f | %s |\n", nodes,
      joining, nodes / joining, (last_place - last_join) * 1e-6,
      static_cast<double>(resident) / nodes, join_cpu * 1e6 / nodes,
      steady_cpu / kSteadySeconds, placed ? "all" : "NOT ALL");
  std::fflush(stdout);
  return placed;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  using muster::LoadShard;
  if (argc == 6 && std::strcmp(argv[1], "--shard") == 0) {
    return muster::RunLoadShard({.port = std::atoi(argv[2]),
                                 .run_id = "scale",
                                 .nodes = std::atoi(argv[3]),
                                 .first = std::atoi(argv[4]),
                                 .count = std::atoi(argv[5])});
  }
  int shards = 2;
  std::vector<int> sizes;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--shards") == 0 && i + 1 < argc) {
      shards = std::atoi(argv[++i]);
    } else {
      sizes.push_back(std::atoi(argv[i]));
    }
  }
  if (sizes.empty()) sizes = {100, 1000, 10000};
  const char* daemon = std::getenv("RENDEZVOUSD");
  const std::string beside = std::string(argv[0]);
  const std::string found = daemon != nullptr
                                ? daemon
                                : beside.substr(0, beside.rfind("/tests/")) +
                                      "/rendezvous/daemon/rendezvousd";
  std::printf(
      "| nodes  | joins, s | joins/s | last join to last place, ms | KiB/node "
      "| server CPU to join, us/node | cores at 1 report/s | placed |\n"
      "|---|---|---|---|---|---|---|---|\n");
  bool good = true;
  for (int nodes : sizes) {
    good = muster::Measure("/proc/self/exe", found, nodes, shards) && good;
  }
  return good ? 0 : 1;
}
