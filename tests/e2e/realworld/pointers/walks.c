#include "walks.h"

long copy(int n, int m, const int *s, int *d) {
  for (int i = 0; i < n; i++) *d++ = *s++ * 2 + m;
  return 0;
}
long pairs(int n, int m, const int *s, int *d) {
  int k = 0;
  for (int i = 0; i < n; i++) {
    d[k++] = s[i];
    d[k++] = m - s[i];
  }
  return k;
}
long image(int n, int m, const int *s, int *d) {
  int *start = d;
  for (int y = 0; y < n; y++) {
    for (int x = 0; x < m; x++) *d++ = 255 - *s++;
    s += 2;
    d += 1;
  }
  return d - start;
}
long final_pointer(int n, int m, const int *s, int *d) {
  const int *p = s;
  int *q = d;
  for (int i = 2; i < n; i += 3) {
    *q = p[1] + m;
    p += 2;
    ++q;
  }
  return (p - s) * 100 + (q - d);
}
long header(int n, int m, const int *s, int *d) {
  int i, j;
  for (i = 0, j = m; i < n; i++, s++, d += 2, j--) *d = *s + j;
  return i * 100 + j;
}
long both_arms(int n, int m, const int *s, int *d) {
  for (int i = 0; i < n; i++) {
    if (s[i] > m)
      *d++ = s[i];
    else
      *d++ = -m;
  }
  return *d;
}
long downwards(int n, int m, const int *s, int *d) {
  int i;
  for (i = n - 1; i >= 0; i -= 2) *d++ = s[i] + m;
  *d = i;
  return i;
}
long by_three(int n, int m, const int *s, int *d) {
  int k = m & 3;
  for (int i = 0; i < n; i++, k += 3) d[i] = s[k++];
  return k;
}
long row_pointers(int n, int m, const int *s, int *d) {
  for (int y = 0; y < n; y++) {
    const int *a = s + y * m;
    int *b = d + y * m;
    for (int x = 0; x < m; x++) *b++ += *a++;
  }
  return 0;
}
long restart(int n, int m, const int *s, int *d) {
  const int *p;
  long sum = 0;
  for (int y = 0; y < n; y++) {
    p = s;
    for (int x = 0; x < m; x++) sum += *p++ * (y + 1);
    d[y] = (int)(sum & 255);
  }
  return sum;
}
long prefix(int n, int m, const int *s, int *d) {
  int *p = d;
  for (int i = 0; i < n; i++) *++p = s[i] - m;
  return p - d;
}
long rest(int n, int m, const int *s, int *d) {
  int i = 0, k = 0;
  for (; i < n; i++) d[k++] = s[i];
  for (; i < m; i++) d[k++] = -1;
  return i * 100 + k;
}
long skip(int n, int m, const int *s, int *d) {
  for (int i = 0; i < n; i++, s++, d++) {
    if (*s > m) continue;
    *d = *s;
  }
  return *d;
}
long bounds_of_final(int n, int m, const int *s, int *d) {
  int k = 0, i;
  for (i = 0; i < n; i++) d[k++] = s[i];
  for (i = 0; i < k; i++) d[i] += m;
  return i * 100 + k;
}
long used_after(int n, int m, const int *s, int *d) {
  const int *end = s;
  for (int i = 0; i < n; i++) end++;
  for (int i = 0; i < m; i++) d[i] = end[i];
  return end - s;
}
long unsigned_step(int n, int m, const int *s, int *d) {
  unsigned k = 5;
  unsigned long j = 0;
  for (int i = 0; i < n; i++) d[j++] = s[k++] + m;
  return (long)(k * 1000 + j);
}
long two_of_one(int n, int m, const int *s, int *d) {
  int *a = d, *b = d + m;
  for (int i = 0; i < n; i++) *b++ = *a++ + s[i];
  return b - a;
}
long sometimes(int n, int m, const int *s, int *d) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (s[i] > m) d[k++] = s[i];
  return k;
}
long nested_count(int n, int m, const int *s, int *d) {
  int k = 0;
  for (int y = 0; y < n; y++)
    for (int x = 1; x < m; x++) d[k++] = s[x] * y;
  return k;
}
long triangular(int n, int m, const int *s, int *d) {
  int k = 0;
  for (int y = 0; y < n; y++)
    for (int x = 0; x < y; x++) d[k++] = s[x] + m;
  return k;
}
long declared(int n, int m, const int *s, int *d) {
  for (int i = 0; i < n; i++) {
    const int *p = s + i;
    int v = *p++;
    int w = *p++;
    d[i] = v * m - w + *p;
  }
  return 0;
}
long read_ahead(int n, int m, const int *s, int *d) {
  int v = *s++;
  for (int i = 0; i < n; i++) {
    int next = *s++;
    *d++ = v + next * m;
    v = next;
  }
  return v;
}
long empty_then(int n, int m, const int *s, int *d) {
  int k = 7;
  for (int i = 0; i < n - 4; i++) d[k++] = s[i];
  d[k] = m;
  return k;
}
long clamped(int n, int m, const int *s, int *d) {
  long t;
  int u = 0;
  for (int i = 0; i < n; i++) {
    d[i] = (int)((unsigned long)((t = (long)s[i] * 3 + m) + 40) > 80 ? (t > 0 ? 40 : -40) : t);
    if ((u = d[i] & 7) > 3 && (u = u - 1) != 4) d[i] += u;
  }
  return u;
}
long chained(int n, int m, const int *s, int *d) {
  int a = 1, b = 2;
  for (int i = 0; i < n; i++) {
    d[i] = a + (s[i] > m ? (b = s[i]) : 5) * 2;
    a = b = (a & 3) + i;
  }
  return a * 10 + b;
}
