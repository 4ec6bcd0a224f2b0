// What glibc's C++ library wants of glibc and musl does not have, so that a binary for musl runs beside it in a test.
#include <stddef.h>
#include <sys/syscall.h>

long syscall(long number, ...);
size_t strftime_l(char *, size_t, const char *, const void *, void *);

char __libc_single_threaded = 0;
struct { unsigned vendor, type, subtype, features; } __cpu_model;

unsigned arc4random(void) {
  unsigned value = 0;
  syscall(SYS_getrandom, &value, sizeof value, 0);
  return value;
}

size_t __strftime_l(char *to, size_t size, const char *format, const void *time, void *locale) {
  return strftime_l(to, size, format, time, locale);
}

int __cxa_thread_atexit_impl(void (*end)(void *), void *object, void *library) { return 0; }
int _dl_find_object(void *at, void *found) { return -1; }
int __cpu_indicator_init(void) { return 0; }
