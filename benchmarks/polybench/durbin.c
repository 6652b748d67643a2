// durbin: Levinson-Durbin recursion for the Yule-Walker equations (a Toeplitz system).
#include "polybench.h"

#define N SIZE(40, 120, 400, 2000, 4000)

static void init(int n, DATA_TYPE r[N]) {
  for (int i = 0; i < n; i++) r[i] = (n + 1 - i);
}

static void kernel_durbin(int n, DATA_TYPE r[N], DATA_TYPE y[N]) {
  DATA_TYPE z[N];
  y[0] = -r[0];
  DATA_TYPE beta = SCALAR(1.0);
  DATA_TYPE alpha = -r[0];
  for (int k = 1; k < n; k++) {
    beta = (1 - alpha * alpha) * beta;
    DATA_TYPE sum = SCALAR(0.0);
    for (int i = 0; i < k; i++) sum += r[k - i - 1] * y[i];
    alpha = -(r[k] + sum) / beta;
    for (int i = 0; i < k; i++) z[i] = y[i] + alpha * y[k - i - 1];
    for (int i = 0; i < k; i++) y[i] = z[i];
    y[k] = alpha;
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_1D(r, N);
  ARRAY_1D(y, N);
  init(N, r);
  TIMED(kernel_durbin(N, r, y));
  DUMP(outputs, y, N);
  return pb_finish(&outputs);
}
