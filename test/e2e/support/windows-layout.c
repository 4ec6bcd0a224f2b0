// Prints where the Windows headers have what src/attest/windows reads, as JSON.
#include <winsock2.h>
#include <windows.h>
#include <iphlpapi.h>
#include <stddef.h>
#include <stdio.h>
#include <winternl.h>

#define AT(type, field) (int)offsetof(type, field)
#define ROW4(list, row, created)                                                                                      \
  AT(list, table), (int)sizeof(row), AT(row, dwLocalAddr), AT(row, dwLocalPort), AT(row, dwRemoteAddr),               \
      AT(row, dwRemotePort), AT(row, dwState), AT(row, dwOwningPid), created
#define ROW6(list, row, created)                                                                                      \
  AT(list, table), (int)sizeof(row), AT(row, ucLocalAddr), AT(row, dwLocalPort), AT(row, ucRemoteAddr),               \
      AT(row, dwRemotePort), AT(row, dwState), AT(row, dwOwningPid), created
#define FORM                                                                                                           \
  "{\"first\":%d,\"size\":%d,\"localAddress\":%d,\"localPort\":%d,\"remoteAddress\":%d,\"remotePort\":%d,"             \
  "\"state\":%d,\"pid\":%d,\"created\":%d,"

int main(void) {
  printf("{\"pid4\":" FORM "\"tableClass\":%d},", ROW4(MIB_TCPTABLE_OWNER_PID, MIB_TCPROW_OWNER_PID, -1),
         TCP_TABLE_OWNER_PID_CONNECTIONS);
  printf("\"pid6\":" FORM "\"tableClass\":%d},", ROW6(MIB_TCP6TABLE_OWNER_PID, MIB_TCP6ROW_OWNER_PID, -1),
         TCP_TABLE_OWNER_PID_CONNECTIONS);
  printf("\"module4\":" FORM "\"tableClass\":%d},",
         ROW4(MIB_TCPTABLE_OWNER_MODULE, MIB_TCPROW_OWNER_MODULE, AT(MIB_TCPROW_OWNER_MODULE, liCreateTimestamp)),
         TCP_TABLE_OWNER_MODULE_CONNECTIONS);
  printf("\"module6\":" FORM "\"tableClass\":%d},",
         ROW6(MIB_TCP6TABLE_OWNER_MODULE, MIB_TCP6ROW_OWNER_MODULE, AT(MIB_TCP6ROW_OWNER_MODULE, liCreateTimestamp)),
         TCP_TABLE_OWNER_MODULE_CONNECTIONS);
  PROCESS_BASIC_INFORMATION basic = {0};
  basic.PebBaseAddress = (PPEB)0x1122334455667788;
  basic.UniqueProcessId = 4242;
  basic.InheritedFromUniqueProcessId = 99;
  printf("\"basic\":\"");
  for (size_t i = 0; i < sizeof basic; i++) printf("%02x", ((unsigned char *)&basic)[i]);
  printf("\",\"parameters\":%d,\"commandLine\":%d,\"states\":[%d,%d,%d,%d]}\n", AT(PEB, ProcessParameters),
         AT(RTL_USER_PROCESS_PARAMETERS, CommandLine), MIB_TCP_STATE_ESTAB, MIB_TCP_STATE_FIN_WAIT1,
         MIB_TCP_STATE_FIN_WAIT2, MIB_TCP_STATE_CLOSE_WAIT);
  return 0;
}
