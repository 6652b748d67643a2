// A game of chance played often, each game with a generator of its own, so that games do not depend on each other; and
// the number pi from points in a square.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline uint64_t scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/* Rolls until the sum passes 100 or a one is thrown three times; returns the sum. */
static int play(uint64_t seed, int *rolls) {
  uint32_t s = (uint32_t)scramble(seed) | 1u;
  int sum = 0, ones = 0, count = 0;
  while (sum <= 100) {
    s = s * 1664525u + 1013904223u;
    int die = (int)((s >> 16) % 6u) + 1;
    count++;
    if (die == 1 && ++ones == 3) break;
    sum += die;
  }
  *rolls = count;
  return sum;
}

static void tournament(int games, int *sums, int *rolls) {
  for (int g = 0; g < games; g++) sums[g] = play((uint64_t)g, &rolls[g]);
}

static long inside(int points) {
  long hits = 0;
  for (int i = 0; i < points; i++) {
    uint64_t r = scramble((uint64_t)i * 2 + 1);
    uint64_t x = r & 0xffff, y = (r >> 16) & 0xffff;
    if (x * x + y * y < 0x100000000ULL) hits++;
  }
  return hits;
}

int main(int argc, char **argv) {
  int games = argc > 1 ? atoi(argv[1]) : 3600000, points = games * 20;
  int *sums = malloc(games * sizeof(int)), *rolls = malloc(games * sizeof(int));
  tournament(games, sums, rolls);
  long wins = 0, total = 0, longest = 0;
  for (int g = 0; g < games; g++) {
    if (sums[g] > 100) wins++;
    total += sums[g];
    if (rolls[g] > longest) longest = rolls[g];
  }
  printf("%ld %ld %ld\n", wins, total, longest);
  long hits = inside(points);
  printf("%ld %.9f\n", hits, 4.0 * hits / points);
  free(sums);
  free(rolls);
  return 0;
}
