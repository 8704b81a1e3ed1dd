/* Simulates a power loss: shuts down an ext4 file system without flushing its journal. */
#include <fcntl.h>
#include <linux/types.h>
#include <stdio.h>
#include <sys/ioctl.h>

#define EXT4_IOC_SHUTDOWN _IOR('X', 125, __u32)

int main(int argc, char **argv) {
  __u32 without_log_flush = 2;
  int folder = argc == 2 ? open(argv[1], O_RDONLY) : -1;
  if (folder >= 0 && ioctl(folder, EXT4_IOC_SHUTDOWN, &without_log_flush) == 0) return 0;
  perror("shutdown");
  return 1;
}
