// What cholesky, lu and ludcmp start from.
#pragma once

#include "polybench.h"

// The matrix that cholesky, lu and ludcmp factor: L L^T for L lower triangular with unit diagonal and 1 - j/n below it.
// Element (r, s) is the sum over t ascending of L(r, t) L(s, t); only the terms that are not zero are added, and only
// for s <= r, which gives the same values in a sixth of the time.
static void pb_positive_definite(int n, DATA_TYPE* a) {
  DATA_TYPE* l =
      (DATA_TYPE*)pb_allocate(sizeof(DATA_TYPE) * (size_t)n * (size_t)n);  // transposed: l[t*n + s] = L(s, t)
  for (int t = 0; t < n; t++)
    for (int s = 0; s < n; s++)
      l[(size_t)t * n + s] = s == t ? SCALAR(1.0) : t < s ? (DATA_TYPE)(-t % n) / n + 1 : SCALAR(0.0);
  for (int r = 0; r < n; r++) {
    DATA_TYPE* row = a + (size_t)r * n;
    for (int s = 0; s <= r; s++) row[s] = SCALAR(0.0);
    for (int t = 0; t <= r; t++) {
      const DATA_TYPE factor = l[(size_t)t * n + r];
      const DATA_TYPE* column = l + (size_t)t * n;
      for (int s = t; s <= r; s++) row[s] += factor * column[s];
    }
  }
  for (int r = 0; r < n; r++)
    for (int s = r + 1; s < n; s++) a[(size_t)r * n + s] = a[(size_t)s * n + r];
}
