// A disk that falls ill on order, for the real binary: LD_PRELOAD before libc's fsync(2) and fdatasync(2).
// The file named by M4A_TEST_DISK holds one word: "hang" (no sync returns while it stands there), "eio" (each fails), else well.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/** Outside the data folder, read anew each time: the test changes it while calls are held. */
static int ordered(const char *word) {
  const char *path = getenv("M4A_TEST_DISK");
  char said[8] = {0};
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return 0;
  ssize_t got = read(fd, said, sizeof said - 1);
  close(fd);
  return got > 0 && strncmp(said, word, strlen(word)) == 0;
}

static int synced(const char *name, int fd) {
  const struct timespec pause = {0, 10 * 1000 * 1000};
  while (ordered("hang")) nanosleep(&pause, 0);
  if (ordered("eio")) {
    errno = EIO;
    return -1;
  }
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return real(fd);
}

int fsync(int fd) { return synced("fsync", fd); }
int fdatasync(int fd) { return synced("fdatasync", fd); }
