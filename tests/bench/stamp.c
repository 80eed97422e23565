// The smallest worker: appends a line with the time of its start to
// $STAMP_FILE. Then ends, or with the argument "hold" runs until it is killed.
//
// A line is "<CLOCK_MONOTONIC in ns> <RANK> <pid>", written in one call, so
// that lines of many workers never mix.

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char** argv) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const char* path = getenv("STAMP_FILE");
  const char* rank = getenv("RANK");
  if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
  if (path == NULL || rank == NULL) {
    fprintf(stderr, "stamp: STAMP_FILE and RANK must be set\n");
    return 2;
  }
  char line[64];
  const int length = snprintf(line, sizeof line, "%lld %.9s %d\n",
                              (long long)now.tv_sec * 1000000000 + now.tv_nsec,
                              rank, (int)getpid());
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0 || write(fd, line, length) != length) {
    perror(path);
    return 1;
  }
  close(fd);
  while (argc > 1 && strcmp(argv[1], "hold") == 0) pause();
  return 0;
}
