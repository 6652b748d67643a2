// A picture of bytes, red, green and blue beside each other, made larger and smaller between the pixels.
#include <stdio.h>
#include <stdlib.h>

typedef unsigned char byte;

struct rgb {
  byte r, g, b;
};

static byte mix(byte a, byte b, byte c, byte d, float fx, float fy) {
  float top = a + (b - a) * fx, bottom = c + (d - c) * fx;
  return (byte)(top + (bottom - top) * fy + 0.5f);
}

static void resize(const struct rgb *in, int w, int h, struct rgb *out, int W, int H) {
  float sx = (float)(w - 1) / (W - 1), sy = (float)(h - 1) / (H - 1);
  for (int y = 0; y < H; y++) {
    float py = y * sy;
    int iy = (int)py;
    if (iy > h - 2) iy = h - 2;
    for (int x = 0; x < W; x++) {
      float px = x * sx;
      int ix = (int)px;
      if (ix > w - 2) ix = w - 2;
      const struct rgb *p = in + iy * w + ix;
      float fx = px - ix, fy = py - iy;
      struct rgb *o = &out[y * W + x];
      o->r = mix(p[0].r, p[1].r, p[w].r, p[w + 1].r, fx, fy);
      o->g = mix(p[0].g, p[1].g, p[w].g, p[w + 1].g, fx, fy);
      o->b = mix(p[0].b, p[1].b, p[w].b, p[w + 1].b, fx, fy);
    }
  }
}

static void grey(const struct rgb *in, int count, byte *out) {
  for (int i = 0; i < count; i++) out[i] = (byte)((in[i].r * 77 + in[i].g * 151 + in[i].b * 28) >> 8);
}

static unsigned long checksum(const byte *p, int count) {
  unsigned long s = 0;
  for (int i = 0; i < count; i++) s += (unsigned long)p[i] * (i % 251 + 1);
  return s;
}

int main(int argc, char **argv) {
  int w = argc > 1 ? atoi(argv[1]) : 3200, h = w * 9 / 16;
  int sizes[4] = {w * 3 / 2, w * 2, w / 2, w * 5 / 4};
  struct rgb *in = malloc(sizeof *in * w * h), *out = malloc(sizeof *out * 4 * w * h);
  byte *g = malloc(4 * w * h);
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      in[y * w + x].r = (byte)(x * 255 / w);
      in[y * w + x].g = (byte)(y * 255 / h);
      in[y * w + x].b = (byte)((x * y) >> 6);
    }
  for (int k = 0; k < 4; k++) {
    int W = sizes[k], H = W * h / w;
    resize(in, w, h, out, W, H);
    grey(out, W * H, g);
    printf("%dx%d %lu\n", W, H, checksum(g, W * H));
  }
  free(in);
  free(out);
  free(g);
  return 0;
}
