// The libSystem calls of src/attest/darwin, answered by Linux: real processes and real sockets, in the structures of macOS.
// Built as a shared library, so that the macOS attestor can be attacked where the tests run.
#define _GNU_SOURCE
#include "darwin-structs.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 65536, STALE_NS = 3000000 };
struct open_socket { uint64_t inode; int references, pid, uid, kind; struct in_sockinfo in; int state; };
static struct open_socket sockets[MOST];
static int count;
static struct timespec taken;

static int numeric(const char *text) { return *text >= '0' && *text <= '9'; }

static int chains[4096], next[MOST]; // where in `sockets` the first of an inode's chain is, and the next; 0 ends it

static struct open_socket *by_inode(uint64_t inode) {
  for (int at = chains[inode % 4096]; at; at = next[at])
    if (sockets[at].inode == inode) return &sockets[at];
  return NULL;
}

static struct open_socket *add(uint64_t inode, int kind) {
  if (count + 1 >= MOST) abort();
  struct open_socket *added = &sockets[++count];
  *added = (struct open_socket){.inode = inode, .kind = kind};
  next[count] = chains[inode % 4096], chains[inode % 4096] = count;
  return added;
}

static uint64_t inode_at(int pid, int fd) {
  char path[64], link[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
  ssize_t size = readlink(path, link, sizeof link - 1);
  if (size <= 8 || strncmp(link, "socket:[", 8)) return 0;
  link[size] = 0;
  return strtoull(link + 8, NULL, 10);
}

static void read_table(const char *path, int six) {
  // established, fin-wait-1, fin-wait-2, close-wait; anything else is as good as closed
  static const int states[] = {0, 4, 10, 10, 6, 9, 10, 10, 5, 10, 1, 10, 10};
  FILE *file = fopen(path, "r");
  char line[512], local[64], remote[64];
  unsigned lport, rport, state, uid;
  unsigned long long inode;
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, " %*d: %32[0-9A-F]:%x %32[0-9A-F]:%x %x %*s %*s %*s %u %*s %llu", local, &lport, remote, &rport, &state, &uid, &inode) != 7 || !inode) continue;
    struct open_socket *found = add(inode, 2);
    found->uid = uid, found->state = states[state < 13 ? state : 7];
    found->in.gencnt = inode, found->in.vflag = six ? 2 : 1;
    found->in.lport = (uint16_t)(lport >> 8 | lport << 8), found->in.fport = (uint16_t)(rport >> 8 | rport << 8);
    for (int i = 0; i < (six ? 4 : 1); i++) {
      unsigned word;
      sscanf(local + 8 * i, "%8x", &word), memcpy(found->in.laddr.v6 + (six ? 4 * i : 12), &word, 4);
      sscanf(remote + 8 * i, "%8x", &word), memcpy(found->in.faddr.v6 + (six ? 4 * i : 12), &word, 4);
    }
    if (six && !memcmp(found->in.faddr.v6, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12)) found->in.vflag = 1; // IPv4, mapped
  }
  if (file) fclose(file);
}

/** What the kernel of macOS would know at once; here it is read anew once it is some milliseconds old. */
static void look(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (taken.tv_sec && (now.tv_sec - taken.tv_sec) * 1000000000LL + now.tv_nsec - taken.tv_nsec < STALE_NS) return;
  count = 0;
  memset(chains, 0, sizeof chains);
  read_table("/proc/net/tcp", 0), read_table("/proc/net/tcp6", 1);
  DIR *all = opendir("/proc");
  for (struct dirent *process; all && (process = readdir(all));) {
    char path[300];
    if (!numeric(process->d_name)) continue;
    snprintf(path, sizeof path, "/proc/%s/fd", process->d_name);
    DIR *files = opendir(path);
    for (struct dirent *file; files && (file = readdir(files));) {
      if (!numeric(file->d_name)) continue;
      uint64_t inode = inode_at(atoi(process->d_name), atoi(file->d_name));
      struct open_socket *found = inode ? by_inode(inode) : NULL;
      if (inode && !found) found = add(inode, 3);
      if (found) found->references++, found->pid = atoi(process->d_name);
    }
    if (files) closedir(files);
  }
  if (all) closedir(all);
  clock_gettime(CLOCK_MONOTONIC, &taken);
}

struct status { char comm[64], state; int ppid, tty; unsigned long long start, stack, args; unsigned uid, euid; };

static int status_of(int pid, struct status *found) {
  char path[64], text[4096], line[256];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  if (size <= 0) return errno = ESRCH, 0;
  text[size] = 0;
  char *name = strchr(text, '('), *end = strrchr(text, ')');
  snprintf(found->comm, sizeof found->comm, "%.*s", (int)(end - name - 1), name + 1);
  int field = 3;
  for (char *word = strtok(end + 2, " "); word; word = strtok(NULL, " "), field++) {
    if (field == 3) found->state = *word;
    if (field == 4) found->ppid = atoi(word);
    if (field == 7) found->tty = atoi(word);
    if (field == 22) found->start = strtoull(word, NULL, 10);
    if (field == 28) found->stack = strtoull(word, NULL, 10);
    if (field == 48) found->args = strtoull(word, NULL, 10);
  }
  if (found->state == 'Z' || found->state == 'X') return errno = ESRCH, 0;
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  FILE *file = fopen(path, "r");
  found->uid = found->euid = -1;
  while (file && fgets(line, sizeof line, file)) sscanf(line, "Uid: %u %u", &found->uid, &found->euid);
  if (file) fclose(file);
  return 1;
}

static int link_of(int pid, const char *name, char *to, size_t room) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  ssize_t size = readlink(path, to, room - 1);
  if (size < 0) return 0;
  to[size] = 0;
  return (int)size;
}

int proc_listallpids(void *buffer, int room) {
  int found = 0;
  DIR *all = opendir("/proc");
  for (struct dirent *process; all && (process = readdir(all));)
    if (numeric(process->d_name) && found * 4 + 4 <= room) ((int *)buffer)[found++] = atoi(process->d_name);
  if (all) closedir(all);
  return found;
}

static int list_files(int pid, void *buffer, int room) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd", pid);
  DIR *files = opendir(path);
  if (!files) return errno = errno == EACCES ? EPERM : ESRCH, 0;
  int size = 0;
  for (struct dirent *file; (file = readdir(files)) && size + 8 <= room;) {
    if (!numeric(file->d_name)) continue;
    int fd = atoi(file->d_name);
    *(struct proc_fdinfo *)((char *)buffer + size) = (struct proc_fdinfo){fd, inode_at(pid, fd) ? 2 : 1};
    size += 8;
  }
  closedir(files);
  return size ? size : 8; // a process without files has the answer of one that has only others
}

int proc_pidinfo(int pid, int flavor, uint64_t arg, void *buffer, int room) {
  struct status it = {0};
  if (flavor == 1) return list_files(pid, buffer, room);
  if (!status_of(pid, &it)) return 0;
  memset(buffer, 0, room);
  if (flavor == 17) {
    struct stat inode;
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0 || fstat(fd, &inode)) return 0;
    close(fd);
    *(struct proc_uniqidentifierinfo *)buffer = (struct proc_uniqidentifierinfo){.uniqueid = inode.st_ino, .idversion = (int)(it.stack ^ it.args)};
    return sizeof(struct proc_uniqidentifierinfo);
  }
  if (flavor == 13) {
    struct proc_bsdshortinfo *info = buffer;
    *info = (struct proc_bsdshortinfo){.pid = pid, .ppid = it.ppid, .uid = it.euid, .ruid = it.uid};
    snprintf(info->comm, sizeof info->comm, "%.15s", it.comm);
    return sizeof *info;
  }
  if (geteuid() != 0 && it.euid != geteuid()) return errno = EPERM, 0;
  if (flavor == 3) {
    struct proc_bsdinfo *info = buffer;
    *info = (struct proc_bsdinfo){.pid = pid, .ppid = it.ppid, .uid = it.euid, .ruid = it.uid, .tdev = it.tty ? it.tty : -1,
                                  .start_sec = 1700000000 + it.start / 100, .start_usec = it.start % 100 * 10000};
    snprintf(info->comm, sizeof info->comm, "%.15s", it.comm);
    return sizeof *info;
  }
  struct proc_vnodepathinfo *folders = buffer;
  return flavor == 9 && link_of(pid, "cwd", folders->cdir.path, sizeof folders->cdir.path) ? (int)sizeof *folders : 0;
}

/** The pcb of the other end of a Unix socket, from sock_diag(7). */
static uint64_t other_end(uint64_t inode) {
  struct { struct nlmsghdr header; struct unix_diag_req ask; } request = {
      {sizeof request, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 1, 0},
      {.sdiag_family = AF_UNIX, .udiag_states = -1, .udiag_ino = inode, .udiag_show = UDIAG_SHOW_PEER, .udiag_cookie = {-1, -1}}};
  char answer[1024];
  uint64_t found = 0;
  int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  ssize_t size = send(netlink, &request, sizeof request, 0) < 0 ? 0 : recv(netlink, answer, sizeof answer, 0);
  close(netlink);
  if (size < 32 || ((struct nlmsghdr *)answer)->nlmsg_type != SOCK_DIAG_BY_FAMILY) return 0;
  for (size_t at = 32; at + 8 <= (size_t)size;) {
    uint16_t length, type;
    memcpy(&length, answer + at, 2), memcpy(&type, answer + at + 2, 2);
    if (type == UNIX_DIAG_PEER) { uint32_t peer; memcpy(&peer, answer + at + 4, 4), found = peer; }
    at += length < 4 ? 4 : (length + 3) & ~3;
  }
  return found;
}

int proc_pidfdinfo(int pid, int fd, int flavor, void *buffer, int room) {
  uint64_t inode = inode_at(pid, fd);
  if (!inode) return 0;
  look();
  struct socket_fdinfo *info = buffer;
  memset(info, 0, sizeof *info);
  struct open_socket *found = by_inode(inode);
  info->socket.kind = found ? found->kind : 3, info->socket.pcb = inode;
  if (found) {
    info->file.status = found->references > 1;
    if (found->kind == 3) return info->socket.proto.un.conn_pcb = other_end(inode), sizeof *info;
    info->socket.proto.tcp.in = found->in, info->socket.proto.tcp.state = found->state;
  }
  return sizeof *info;
}

int proc_pidpath(int pid, char *to, uint32_t room) { return link_of(pid, "exe", to, room); }

static int give(const void *bytes, size_t size, void *to, uint64_t *room) {
  if (to && *room < size) return errno = ENOMEM, -1;
  if (to) memcpy(to, bytes, size);
  return *room = size, 0;
}

static size_t file_of(int pid, const char *name, char *to, size_t room) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t size = fd < 0 ? 0 : read(fd, to, room);
  if (fd >= 0) close(fd);
  return size < 0 ? 0 : (size_t)size;
}

int sysctl(int *mib, unsigned length, void *to, uint64_t *room, void *set, uint64_t setting) {
  static char bytes[1 << 20];
  int argc = 0;
  size_t path = 4 + (size_t)link_of(mib[2], "exe", bytes + 4, 4096) + 1, at = 4 + (path - 4 + 7) / 8 * 8;
  memset(bytes + path, 0, at - path);
  size_t args = file_of(mib[2], "cmdline", bytes + at, 1 << 18);
  for (size_t i = 0; i < args; i++) argc += !bytes[at + i];
  memcpy(bytes, &argc, 4);
  at += args;
  return give(bytes, at + file_of(mib[2], "environ", bytes + at, 1 << 18), to, room);
}

int sysctlbyname(const char *name, void *to, uint64_t *room, void *set, uint64_t setting) {
  if (!strcmp(name, "kern.bootsessionuuid")) {
    char uuid[64] = {0};
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (read(fd, uuid, 36) != 36) return -1;
    close(fd);
    return give(uuid, 37, to, room);
  }
  look();
  static unsigned char list[MOST * 192];
  size_t at = 0;
  struct xinpgen mark = {.len = sizeof mark};
  memcpy(list, &mark, sizeof mark), at += sizeof mark;
  for (int i = 1; i <= count && sockets[i].kind == 2; i++) {
    struct in_sockinfo *in = &sockets[i].in;
    struct xinpcb_n pcb = {.len = sizeof pcb, .kind = 0x10, .fport = in->fport, .lport = in->lport, .vflag = in->vflag, .faddr = in->faddr, .laddr = in->laddr};
    struct xsocket_n socket = {.len = sizeof socket, .kind = 1, .uid = sockets[i].uid, .last_pid = sockets[i].pid};
    memcpy(list + at, &pcb, sizeof pcb), at += (sizeof pcb + 7) & ~7;
    memcpy(list + at, &socket, sizeof socket), at += (sizeof socket + 7) & ~7;
  }
  memcpy(list + at, &mark, sizeof mark);
  return give(list, at + sizeof mark, to, room);
}

/** LOCAL_PEERTOKEN: macOS names who used the other end last, Linux who connected. */
int getsockopt(int fd, int level, int option, void *to, uint32_t *room) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  struct status it = {0};
  if (level != 0 || option != 6) return (int)syscall(SYS_getsockopt, fd, level, option, to, room);
  if (syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || !peer.pid || !status_of(peer.pid, &it)) return -1;
  uint32_t token[8] = {0, peer.uid, peer.gid, peer.uid, peer.gid, peer.pid, 0, (uint32_t)(it.stack ^ it.args)};
  memcpy(to, token, sizeof token);
  return *room = sizeof token, 0;
}

int *__error(void) { return &errno; }
