// A crowd for the search of all holders: crowd PROCESSES DESCRIPTORS prints "ready" and stays until SIGTERM.
// DESCRIPTORS in all, shared out evenly, every second one of them a socket.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 3) return 2;
  int processes = atoi(arguments[1]), descriptors = atoi(arguments[2]), ready[2], got;
  pid_t *children = calloc(processes, sizeof *children);
  sigset_t stop;
  char byte;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigprocmask(SIG_BLOCK, &stop, 0);
  if (!children || pipe(ready)) return 1;
  for (int i = 0; i < processes; i++) {
    pid_t child = fork();
    if (child < 0) return 1;
    if ((children[i] = child)) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int fd = 0; fd < 64; fd++)
      if (fd != ready[1]) close(fd);
    int share = descriptors / processes + (i < descriptors % processes);
    for (int had = 0; had < share; had++)
      if ((had % 2 ? socket(AF_UNIX, SOCK_STREAM, 0) : open("/dev/null", O_RDONLY)) < 0) _exit(1);
    if (write(ready[1], "r", 1) != 1) _exit(1);
    close(ready[1]);
    for (;;) pause();
  }
  close(ready[1]);
  for (int i = 0; i < processes; i++)
    if (read(ready[0], &byte, 1) != 1) return 1;
  puts("ready");
  fflush(stdout);
  sigwait(&stop, &got);
  // all have gone when we go: what is measured next must not be measured among their ends
  for (int i = 0; i < processes; i++) kill(children[i], SIGKILL);
  while (wait(0) > 0);
  return 0;
}
