/* A delta coder with a checksum: small integers, tables, a loop that counts down, one command for compile and link. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t table[256];

static void make_table(void) {
  for (unsigned n = 0; n < 256; n++) {
    uint32_t c = n;
    for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
    table[n] = c;
  }
}

static uint32_t checksum(const unsigned char *p, int n) {
  uint32_t c = 0xffffffffu;
  for (int i = 0; i < n; i++) c = table[(c ^ p[i]) & 0xff] ^ (c >> 8);
  return ~c;
}

static void encode(unsigned char *p, int n) {
  for (int i = n - 1; i > 0; i--) p[i] -= p[i - 1];
}

static void decode(unsigned char *p, int n) {
  for (int i = 1; i < n; i++) p[i] += p[i - 1];
}

#ifndef SIZE /* another one: what the harness must see as other bytes */
#define SIZE 1000
#endif
int main(void) {
  unsigned char data[SIZE], copy[SIZE];
  for (int i = 0; i < SIZE; i++) data[i] = copy[i] = (unsigned char)(i * i >> 3);
  make_table();
  printf("%s: check value\n", checksum((const unsigned char *)"123456789", 9) == 0xcbf43926u ? "PASS" : "FAIL");
  encode(data, SIZE);
  printf("OUTPUT encoded %08x\n", checksum(data, SIZE));
  decode(data, SIZE);
  printf("%s: round trip\n", memcmp(data, copy, SIZE) == 0 ? "PASS" : "FAIL");
  return 0;
}
