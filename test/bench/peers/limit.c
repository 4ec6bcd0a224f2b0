// The physical limit: a single-threaded epoll HTTP server that appends the bodies of one round to a log, syncs once, replies.
// usage: limit LOGFILE; prints its port
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 8192, EVENTS = 512, BUFFER = 65536, LOG = 64 << 20 };

struct client {
  char bytes[BUFFER];
  int used, replies;
};

static const char REPLY[] =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{\"id\":12345}";
static struct client *clients[CLIENTS];
static char batch[8 << 20];
static long batched;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static int listen_on_loopback(void) {
  int server = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(server, (struct sockaddr *)&address, length) || listen(server, 4096)) fail("listen");
  if (getsockname(server, (struct sockaddr *)&address, &length)) fail("getsockname");
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  return server;
}

// A file that has its blocks already is synced faster than one that grows: the limit is the faster one.
static int preallocated_log(const char *path) {
  int log = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
  char *zeros = calloc(1, 1 << 20);
  for (int i = 0; i < LOG >> 20; i++)
    if (write(log, zeros, 1 << 20) < 0) fail("log");
  free(zeros);
  fsync(log);
  return log;
}

static void watch(int poll, int fd) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
}

static void accept_all(int poll, int server) {
  int one = 1, fd;
  while ((fd = accept4(server, 0, 0, SOCK_NONBLOCK)) >= 0) {
    if (fd >= CLIENTS) {
      close(fd);
      continue;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (!clients[fd]) clients[fd] = malloc(sizeof(struct client));
    clients[fd]->used = clients[fd]->replies = 0;
    watch(poll, fd);
  }
}

// Takes the complete requests of a client into the batch; returns how many replies it is owed.
static int take(int fd) {
  struct client *client = clients[fd];
  int got = read(fd, client->bytes + client->used, BUFFER - client->used - 1);
  if (got <= 0) {
    if (got == 0 || errno != EAGAIN) close(fd);
    return 0;
  }
  client->used += got;
  client->bytes[client->used] = 0;
  for (;;) {
    char *end = strstr(client->bytes, "\r\n\r\n");
    if (!end) break;
    char *length = strcasestr(client->bytes, "content-length:");
    int body = length && length < end ? atoi(length + 15) : 0;
    int whole = end + 4 - client->bytes + body;
    if (client->used < whole) break;
    memcpy(batch + batched, end + 4, body);
    batched += body;
    memmove(client->bytes, client->bytes + whole, client->used - whole + 1);
    client->used -= whole;
    client->replies++;
  }
  return client->replies;
}

int main(int count, char **arguments) {
  static struct epoll_event events[EVENTS];
  static int owed[EVENTS];
  if (count < 2) return 2;
  int log = preallocated_log(arguments[1]), server = listen_on_loopback(), poll = epoll_create1(0);
  long offset = 0;
  watch(poll, server);
  for (;;) {
    int ready = epoll_wait(poll, events, EVENTS, -1), owing = 0;
    for (int i = 0; i < ready; i++) {
      int fd = events[i].data.fd;
      if (fd == server) accept_all(poll, server);
      else if (take(fd)) owed[owing++] = fd;
    }
    if (batched) {
      if (offset + batched > LOG) offset = 0;
      if (pwrite(log, batch, batched, offset) < 0 || fdatasync(log)) fail("log");
      offset += batched;
      batched = 0;
    }
    for (int i = 0; i < owing; i++)
      for (struct client *client = clients[owed[i]]; client->replies > 0; client->replies--)
        if (write(owed[i], REPLY, sizeof REPLY - 1) < 0) break;
  }
}
