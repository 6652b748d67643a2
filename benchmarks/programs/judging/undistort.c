/* lens correction: bilinear gather through a polynomial of the radius */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static void undistort(int h, int w, const unsigned char *src, unsigned char *dst, float k1, float k2)
{
    float cx = w / 2.0f, cy = h / 2.0f;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float dx = (x - cx) / cx, dy = (y - cy) / cx, r2 = dx * dx + dy * dy;
            float g = 1 + k1 * r2 + k2 * r2 * r2;
            float sx = cx + dx * g * cx, sy = cy + dy * g * cx;
            int ix = (int)floorf(sx), iy = (int)floorf(sy);
            float fx = sx - ix, fy = sy - iy;
            if (ix < 0 || iy < 0 || ix >= w - 1 || iy >= h - 1) { dst[y * w + x] = 0; continue; }
            const unsigned char *p = src + iy * w + ix;
            float v = (1 - fy) * ((1 - fx) * p[0] + fx * p[1]) + fy * ((1 - fx) * p[w] + fx * p[w + 1]);
            dst[y * w + x] = (unsigned char)(v + 0.5f);
        }
}
int main(int argc, char **argv)
{
    int h = 720, w = 1280, reps = argc > 1 ? atoi(argv[1]) : 20;
    unsigned char *a = malloc(h * w), *b = malloc(h * w);
    for (int i = 0; i < h * w; i++) a[i] = (i / w / 16 + i % w / 16) % 2 * 200 + i % 31;
    unsigned long s = 0;
    for (int r = 0; r < reps; r++) {
        undistort(h, w, a, b, -0.2f + 0.01f * r, 0.03f);
        for (int i = 0; i < h * w; i += 97) s += b[i];
    }
    printf("%lu\n", s);
}
