// deriche: recursive edge detection and smoothing filter; a causal and an anticausal pass over the rows, then both
// over the columns. Computed in float unless told otherwise.
#ifndef DATA_TYPE
#define DATA_TYPE float
#endif
#include "polybench.h"

#define W SIZE(64, 192, 720, 4096, 7680)
#define H SIZE(64, 128, 480, 2160, 4320)

static void init(int w, int h, DATA_TYPE imgIn[W][H]) {
  for (int i = 0; i < w; i++)
    for (int j = 0; j < h; j++) imgIn[i][j] = (DATA_TYPE)((313 * i + 991 * j) % 65536) / 65535.0f;
}

static void kernel_deriche(int w, int h, DATA_TYPE alpha, DATA_TYPE imgIn[W][H], DATA_TYPE imgOut[W][H],
                           DATA_TYPE y1[W][H], DATA_TYPE y2[W][H]) {
  DATA_TYPE xm1, tm1, ym1, ym2;
  DATA_TYPE xp1, xp2, tp1, tp2, yp1, yp2;
  const DATA_TYPE k = (SCALAR(1.0) - EXP(-alpha)) * (SCALAR(1.0) - EXP(-alpha)) /
                      (SCALAR(1.0) + SCALAR(2.0) * alpha * EXP(-alpha) - EXP(SCALAR(2.0) * alpha));
  const DATA_TYPE a1 = k, a5 = k;
  const DATA_TYPE a2 = k * EXP(-alpha) * (alpha - SCALAR(1.0)), a6 = a2;
  const DATA_TYPE a3 = k * EXP(-alpha) * (alpha + SCALAR(1.0)), a7 = a3;
  const DATA_TYPE a4 = -k * EXP(SCALAR(-2.0) * alpha), a8 = a4;
  const DATA_TYPE b1 = POW(SCALAR(2.0), -alpha);
  const DATA_TYPE b2 = -EXP(SCALAR(-2.0) * alpha);
  const DATA_TYPE c1 = 1, c2 = 1;

  for (int i = 0; i < w; i++) {
    ym1 = SCALAR(0.0);
    ym2 = SCALAR(0.0);
    xm1 = SCALAR(0.0);
    for (int j = 0; j < h; j++) {
      y1[i][j] = a1 * imgIn[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
      xm1 = imgIn[i][j];
      ym2 = ym1;
      ym1 = y1[i][j];
    }
  }
  for (int i = 0; i < w; i++) {
    yp1 = SCALAR(0.0);
    yp2 = SCALAR(0.0);
    xp1 = SCALAR(0.0);
    xp2 = SCALAR(0.0);
    for (int j = h - 1; j >= 0; j--) {
      y2[i][j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2;
      xp2 = xp1;
      xp1 = imgIn[i][j];
      yp2 = yp1;
      yp1 = y2[i][j];
    }
  }
  for (int i = 0; i < w; i++)
    for (int j = 0; j < h; j++) imgOut[i][j] = c1 * (y1[i][j] + y2[i][j]);
  for (int j = 0; j < h; j++) {
    tm1 = SCALAR(0.0);
    ym1 = SCALAR(0.0);
    ym2 = SCALAR(0.0);
    for (int i = 0; i < w; i++) {
      y1[i][j] = a5 * imgOut[i][j] + a6 * tm1 + b1 * ym1 + b2 * ym2;
      tm1 = imgOut[i][j];
      ym2 = ym1;
      ym1 = y1[i][j];
    }
  }
  for (int j = 0; j < h; j++) {
    tp1 = SCALAR(0.0);
    tp2 = SCALAR(0.0);
    yp1 = SCALAR(0.0);
    yp2 = SCALAR(0.0);
    for (int i = w - 1; i >= 0; i--) {
      y2[i][j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2;
      tp2 = tp1;
      tp1 = imgOut[i][j];
      yp2 = yp1;
      yp1 = y2[i][j];
    }
  }
  for (int i = 0; i < w; i++)
    for (int j = 0; j < h; j++) imgOut[i][j] = c2 * (y1[i][j] + y2[i][j]);
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(imgIn, W, H);
  ARRAY_2D(imgOut, W, H);
  ARRAY_2D(y1, W, H);
  ARRAY_2D(y2, W, H);
  init(W, H, imgIn);
  TIMED(kernel_deriche(W, H, SCALAR(0.25), imgIn, imgOut, y1, y2));
  DUMP(outputs, imgOut, W * H);
  return pb_finish(&outputs);
}
