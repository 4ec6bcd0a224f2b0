// The structures of macOS (xnu: bsd/sys/proc_info.h, proc_info_private.h, socketvar.h, in_pcb.h, tcp_var.h) filled by a 64-bit
// C compiler and printed as JSON of hex, for the parsers of src/attest/darwin.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct proc_bsdinfo {
  uint32_t flags, status, xstatus, pid, ppid, uid, gid, ruid, rgid, svuid, svgid, reserved;
  char comm[16], name[32];
  uint32_t nfiles, pgid, pjobc, tdev, tpgid;
  int32_t nice;
  uint64_t start_sec, start_usec;
};
struct proc_bsdshortinfo {
  uint32_t pid, ppid, pgid, status;
  char comm[16];
  uint32_t flags, uid, gid, ruid, rgid, svuid, svgid, reserved;
};
struct proc_uniqidentifierinfo {
  uint8_t uuid[16];
  uint64_t uniqueid, puniqueid;
  int32_t idversion;
  uint32_t reserved2;
  uint64_t reserved3, reserved4;
};
struct proc_fileinfo { uint32_t openflags, status; int64_t offset; int32_t type; uint32_t guardflags; };
struct vinfo_stat {
  uint32_t dev;
  uint16_t mode, nlink;
  uint64_t ino;
  uint32_t uid, gid;
  int64_t atime, atimensec, mtime, mtimensec, ctime, ctimensec, birthtime, birthtimensec, size, blocks;
  int32_t blksize;
  uint32_t flags, gen, rdev;
  int64_t spare[2];
};
struct vnode_info { struct vinfo_stat stat; int type, pad; int32_t fsid[2]; };
struct vnode_info_path { struct vnode_info info; char path[1024]; };
struct proc_vnodepathinfo { struct vnode_info_path cdir, rdir; };
union in_address { struct { uint32_t pad[3]; uint8_t v4[4]; } a46; uint8_t v6[16] __attribute__((aligned(4))); };
struct in_sockinfo {
  int fport, lport;
  uint64_t gencnt;
  uint32_t flags, flow;
  uint8_t vflag, ttl;
  uint32_t reserved;
  union in_address faddr, laddr;
  struct { uint8_t tos; } v4;
  struct { uint8_t hlim; int cksum; uint16_t ifindex; int16_t hops; } v6;
};
struct tcp_sockinfo { struct in_sockinfo in; int state, timer[4], mss; uint32_t flags, reserved; uint64_t tp; };
struct sockaddr_un { uint8_t len, family; char path[104]; };
struct un_sockinfo {
  uint64_t conn_so, conn_pcb;
  union { struct sockaddr_un un; char dummy[255]; } addr, caddr;
};
struct sockbuf_info { uint32_t cc, hiwat, mbcnt, mbmax, lowat; int16_t flags, timeo; };
struct socket_info {
  struct vinfo_stat stat;
  uint64_t so, pcb;
  int type, protocol, family;
  int16_t options, linger, state, qlen, incqlen, qlimit, timeo;
  uint16_t error;
  uint32_t oobmark;
  struct sockbuf_info rcv, snd;
  int kind;
  uint32_t reserved;
  union { struct in_sockinfo in; struct tcp_sockinfo tcp; struct un_sockinfo un; } proto;
};
struct socket_fdinfo { struct proc_fileinfo file; struct socket_info socket; };
struct proc_fdinfo { int32_t fd; uint32_t type; };

#pragma pack(push, 4)
struct xinpgen { uint32_t len, count; uint64_t gen, sogen; };
struct xsocket_n {
  uint32_t len, kind;
  uint64_t so;
  int16_t type;
  uint32_t options;
  int16_t linger, state;
  uint64_t pcb;
  int protocol, family;
  int16_t qlen, incqlen, qlimit, timeo;
  uint16_t error;
  int32_t pgid;
  uint32_t oobmark, uid;
  int32_t last_pid, e_pid;
};
struct xsockbuf_n { uint32_t len, kind, cc, hiwat, mbcnt, mbmax; int32_t lowat; int16_t flags, timeo; };
struct xinpcb_n {
  uint32_t len, kind;
  uint64_t inpp;
  uint16_t fport, lport;
  uint64_t ppcb, gencnt;
  int flags;
  uint32_t flow;
  uint8_t vflag, ttl, protocol;
  union in_address faddr, laddr;
  struct { uint8_t tos; } v4;
  struct { uint8_t hlim; int cksum; uint16_t ifindex; int16_t hops; } v6;
  uint32_t flowhash, flags2;
};
struct xtcpcb_n { uint32_t len, kind; uint64_t segq; int dupacks, timer[4], state; };
#pragma pack(pop)

static void print(const char *name, const void *bytes, size_t size, const char *end) {
  printf("\"%s\":\"", name);
  for (size_t i = 0; i < size; i++) printf("%02x", ((const unsigned char *)bytes)[i]);
  printf("\"%s", end);
}

static uint16_t net(uint16_t port) { return (uint16_t)(port >> 8 | port << 8); }

static unsigned char list[4096];
static size_t used;
static void append(const void *record, size_t size) {
  memcpy(list + used, record, size);
  used += (size + 7) & ~(size_t)7;
}

static void connection(uint16_t lport, uint16_t fport, int32_t pid, int six) {
  struct xinpcb_n pcb = {.len = sizeof pcb, .kind = 0x10, .fport = net(fport), .lport = net(lport), .vflag = six ? 2 : 1};
  if (six) pcb.faddr.v6[15] = pcb.laddr.v6[15] = 1;
  else memcpy(pcb.faddr.a46.v4, "\x7f\0\0\1", 4), memcpy(pcb.laddr.a46.v4, "\x7f\x09\x08\x07", 4);
  struct xsocket_n socket = {.len = sizeof socket, .kind = 1, .uid = 501, .last_pid = pid, .e_pid = pid + 1};
  struct xsockbuf_n receive = {.len = sizeof receive, .kind = 2}, send = {.len = sizeof send, .kind = 4};
  struct xtcpcb_n tcp = {.len = sizeof tcp, .kind = 0x20, .state = 4};
  append(&pcb, sizeof pcb), append(&socket, sizeof socket), append(&receive, sizeof receive), append(&send, sizeof send),
      append(&tcp, sizeof tcp);
}

int main(void) {
  printf("{");
  struct socket_fdinfo four = {.file.status = 1, .socket = {.so = 7, .pcb = 0x1122334455667788, .kind = 2}};
  four.socket.proto.tcp.in.gencnt = 777, four.socket.proto.tcp.in.vflag = 1, four.socket.proto.tcp.state = 5;
  four.socket.proto.tcp.in.fport = net(8080), four.socket.proto.tcp.in.lport = net(51515);
  memcpy(four.socket.proto.tcp.in.faddr.a46.v4, "\x7f\0\0\1", 4);
  memcpy(four.socket.proto.tcp.in.laddr.a46.v4, "\x7f\x09\x08\x07", 4);
  print("tcp4", &four, sizeof four, ",");
  struct socket_fdinfo six = four;
  six.file.status = 0, six.socket.proto.tcp.in.vflag = 2;
  memset(&six.socket.proto.tcp.in.faddr, 0, 32);
  six.socket.proto.tcp.in.faddr.v6[15] = six.socket.proto.tcp.in.laddr.v6[15] = 1;
  print("tcp6", &six, sizeof six, ",");
  struct socket_fdinfo un = {.socket = {.so = 7, .pcb = 8, .kind = 3}};
  un.socket.proto.un.conn_so = 9, un.socket.proto.un.conn_pcb = 10;
  print("un", &un, sizeof un, ",");
  struct proc_fdinfo fds[4] = {{0, 1}, {3, 2}, {7, 5}, {12, 2}};
  print("fds", fds, sizeof fds, ",");
  struct proc_bsdinfo info = {.pid = 4242, .ppid = 99, .uid = 501, .ruid = 502, .comm = "claude", .tdev = 0x10000003,
                              .start_sec = 1700000000, .start_usec = 123456};
  print("info", &info, sizeof info, ",");
  strcpy(info.name, "a name longer than sixteen"), info.tdev = 0xffffffff;
  print("named", &info, sizeof info, ",");
  struct proc_bsdshortinfo brief = {.pid = 1, .ppid = 0, .comm = "launchd", .uid = 3, .ruid = 4};
  print("short", &brief, sizeof brief, ",");
  struct proc_uniqidentifierinfo unique = {.uniqueid = 900001, .puniqueid = 900000, .idversion = 31337};
  print("unique", &unique, sizeof unique, ",");
  static struct proc_vnodepathinfo folders;
  strcpy(folders.cdir.path, "/Users/u/work"), strcpy(folders.rdir.path, "/");
  print("folders", &folders, sizeof folders, ",");
  uint32_t token[8] = {100, 501, 20, 502, 21, 4242, 100003, 31337}; // auid euid egid ruid rgid pid asid pidversion
  print("token", token, sizeof token, ",");
  struct xinpgen mark = {.len = sizeof mark, .count = 2};
  append(&mark, sizeof mark);
  connection(51515, 8080, 4242, 0), connection(8080, 51515, 1, 0), connection(51516, 8080, 77, 1);
  append(&mark, sizeof mark);
  print("list", list, used, "}\n");
  return 0;
}
