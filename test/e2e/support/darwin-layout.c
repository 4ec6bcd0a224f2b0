// The structures of macOS filled by a 64-bit C compiler and printed as JSON of hex, for the parsers of src/attest/darwin.
#include "darwin-structs.h"
#include <stdio.h>
#include <string.h>

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
