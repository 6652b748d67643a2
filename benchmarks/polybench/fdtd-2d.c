// fdtd-2d: finite-difference time-domain simulation of the electric fields ex, ey and the magnetic field hz.
#include "polybench.h"

#define TMAX SIZE(20, 40, 100, 500, 1000)
#define NX SIZE(20, 60, 200, 1000, 2000)
#define NY SIZE(30, 80, 240, 1200, 2600)

static void init(int tmax, int nx, int ny, DATA_TYPE ex[NX][NY], DATA_TYPE ey[NX][NY], DATA_TYPE hz[NX][NY],
                 DATA_TYPE fict[TMAX]) {
  for (int i = 0; i < tmax; i++) fict[i] = (DATA_TYPE)i;
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < ny; j++) {
      ex[i][j] = ((DATA_TYPE)i * (j + 1)) / nx;
      ey[i][j] = ((DATA_TYPE)i * (j + 2)) / ny;
      hz[i][j] = ((DATA_TYPE)i * (j + 3)) / nx;
    }
}

static void kernel_fdtd_2d(int tmax, int nx, int ny, DATA_TYPE ex[NX][NY], DATA_TYPE ey[NX][NY], DATA_TYPE hz[NX][NY],
                           DATA_TYPE fict[TMAX]) {
  for (int t = 0; t < tmax; t++) {
    for (int j = 0; j < ny; j++) ey[0][j] = fict[t];
    for (int i = 1; i < nx; i++)
      for (int j = 0; j < ny; j++) ey[i][j] = ey[i][j] - SCALAR(0.5) * (hz[i][j] - hz[i - 1][j]);
    for (int i = 0; i < nx; i++)
      for (int j = 1; j < ny; j++) ex[i][j] = ex[i][j] - SCALAR(0.5) * (hz[i][j] - hz[i][j - 1]);
    for (int i = 0; i < nx - 1; i++)
      for (int j = 0; j < ny - 1; j++)
        hz[i][j] = hz[i][j] - SCALAR(0.7) * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(ex, NX, NY);
  ARRAY_2D(ey, NX, NY);
  ARRAY_2D(hz, NX, NY);
  ARRAY_1D(fict, TMAX);
  init(TMAX, NX, NY, ex, ey, hz, fict);
  TIMED(kernel_fdtd_2d(TMAX, NX, NY, ex, ey, hz, fict));
  DUMP(outputs, ex, NX * NY);
  DUMP(outputs, ey, NX * NY);
  DUMP(outputs, hz, NX * NY);
  return pb_finish(&outputs);
}
