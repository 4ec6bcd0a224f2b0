// bcryptprimitives.dll for Wine 8: the one function that Bun imports from it, made of the one that Wine has.
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG size); // RtlGenRandom

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) {
  return SystemFunction036(data, (ULONG)size) ? TRUE : FALSE;
}

BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved) { return TRUE; }
