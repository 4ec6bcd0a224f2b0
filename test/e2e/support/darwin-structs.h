// The structures of macOS as its kernel fills them: xnu, bsd/sys/proc_info.h, proc_info_private.h, socketvar.h, in_pcb.h, tcp_var.h.
#include <stdint.h>

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
