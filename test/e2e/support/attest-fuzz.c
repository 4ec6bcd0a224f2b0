// Processes that fight over a few source ports and do to their connections whatever could mislead an attestation.
// attest-fuzz PORT WORKERS PORTS CONNECTIONS SECONDS: prints how many connections were made. Each request tells the
// truth in its query: pid = who writes it, m = what is done, argv0 = the name of the program that writes, where it matters.
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int door, ports;
static long *made;
static unsigned seed;

static int dice(int sides) { return rand_r(&seed) % sides; }

static void ask(int s, const char *what, const char *argv0) {
  char text[256];
  int size = snprintf(text, sizeof text, "GET /?pid=%d&m=%s&argv0=%s HTTP/1.1\r\nHost: fuzz\r\n\r\n", getpid(), what, argv0);
  if (send(s, text, size, MSG_NOSIGNAL) != size) return;
}

static void answer(int s) {
  struct pollfd waiting = {s, POLLIN, 0};
  char text[1024];
  if (poll(&waiting, 1, 2000) > 0 && read(s, text, sizeof text) < 0) return;
}

static void reset(int s) {
  struct linger now = {1, 0};
  setsockopt(s, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close(s);
}

static int dial(void) {
  int s = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  // One port may be in use from several addresses of 127.0.0.0/8 at once.
  struct sockaddr_in from = {.sin_family = AF_INET, .sin_port = htons(21000 + dice(ports)), .sin_addr = {htonl(INADDR_LOOPBACK + dice(2))}};
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(door), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(s, (void *)&from, sizeof from) || connect(s, (void *)&to, sizeof to)) {
    close(s);
    usleep(100);
    return -1;
  }
  __atomic_fetch_add(made, 1, __ATOMIC_RELAXED);
  return s;
}

static void pass(int over, int s) {
  char byte = 'p', room[CMSG_SPACE(sizeof s)] = {0};
  struct iovec data = {&byte, 1};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof s);
  memcpy(CMSG_DATA(head), &s, sizeof s);
  if (sendmsg(over, &message, 0) < 0) return;
}

static int take(int over) {
  char byte, room[CMSG_SPACE(sizeof(int))];
  struct iovec data = {&byte, 1};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  int s = -1;
  if (recvmsg(over, &message, 0) > 0 && CMSG_FIRSTHDR(&message)) memcpy(&s, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof s);
  return s;
}

// The receiver is forked before the connection exists; it writes once the giver has closed its own copy.
static void give(int prove) {
  int pair[2];
  char byte;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return;
  if (!fork()) {
    close(pair[0]);
    int s = take(pair[1]);
    if (s >= 0 && read(pair[1], &byte, 1) == 1) {
      ask(s, prove ? "passed-after-proof" : "passed", "");
      answer(s);
      reset(s);
    }
    _exit(0);
  }
  close(pair[1]);
  int s = dial();
  if (s >= 0) {
    if (prove) {
      ask(s, "before-passing", "");
      answer(s);
    }
    pass(pair[0], s);
    close(s);
    if (write(pair[0], "g", 1) != 1) return;
  }
  close(pair[0]);
  wait(0);
}

static void forked(int s, int prove) {
  if (prove) {
    ask(s, "before-fork", "");
    answer(s);
  }
  pid_t child = fork();
  if (!child) {
    ask(s, prove ? "forked-after-proof" : "forked", "");
    answer(s);
    _exit(0);
  }
  if (prove) waitpid(child, 0, 0); // has it all the while: the child must be refused
  else usleep(dice(1000));
  close(s);
  if (!prove) waitpid(child, 0, 0);
}

static void one(void) {
  int what = dice(100);
  if (what < 4) return give(what < 2);
  int s = dial();
  if (s < 0) return;
  if (what < 6) return forked(s, what == 4);
  if (what < 7) {
    char number[16];
    ask(s, "before-exec", "");
    answer(s);
    snprintf(number, sizeof number, "%d", s);
    execl("/proc/self/exe", "second-life", number, NULL);
  }
  if (what < 10) {
    for (int i = 0; i < 3; i++, usleep(dice(300))) ask(s, "kept", ""), answer(s);
    close(s);
  } else if (what < 14) {
    ask(s, "half-closed", "");
    shutdown(s, SHUT_WR);
    answer(s);
    reset(s);
  } else if (what < 27) {
    ask(s, "waits", "");
    answer(s);
    reset(s);
  } else if (what < 88) {
    ask(s, "resets", "");
    if (what % 4 == 3) usleep(dice(800));
    reset(s);
  } else if (what < 97) {
    ask(s, "closes", "");
    close(s);
  } else {
    ask(s, "exits", "");
    _exit(0);
  }
}

int main(int count, char **arguments) {
  if (count == 2) { // second-life SOCKET
    int s = atoi(arguments[1]);
    ask(s, "execed", arguments[0]);
    answer(s);
    return 0;
  }
  door = atoi(arguments[1]);
  ports = atoi(arguments[3]);
  long enough = atol(arguments[4]);
  time_t end = time(0) + atoi(arguments[5]);
  made = mmap(0, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (int i = atoi(arguments[2]); i > 0; i--)
    if (!fork()) {
      for (unsigned life = 0; *made < enough && time(0) < end; life++) {
        pid_t child = fork();
        if (!child) {
          seed = getpid() * 2654435761u ^ life;
          for (int j = 0; j < 40; j++) one();
          _exit(0);
        }
        waitpid(child, 0, 0);
      }
      _exit(0);
    }
  while (wait(0) > 0);
  printf("%ld\n", *made);
  return 0;
}
