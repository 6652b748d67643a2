#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
/* Points in polygons by crossing number, distance to the outline, Hausdorff distance */
typedef struct { float x, y; } point;
static bool inside(const point *poly, int n, point p) {
    bool in = false;
    for (int i = 0, j = n - 1; i < n; j = i++)
        if ((poly[i].y > p.y) != (poly[j].y > p.y) &&
            p.x < (poly[j].x - poly[i].x) * (p.y - poly[i].y) / (poly[j].y - poly[i].y) + poly[i].x)
            in = !in;
    return in;
}
static float outline(const point *poly, int n, point p) {
    float best = INFINITY;
    for (int i = 0; i < n; i++) {
        point a = poly[i], b = poly[(i + 1) % n];
        float ux = b.x - a.x, uy = b.y - a.y, t = ((p.x - a.x) * ux + (p.y - a.y) * uy) / (ux * ux + uy * uy);
        if (t < 0) t = 0;
        if (t > 1) t = 1;
        float dx = a.x + t * ux - p.x, dy = a.y + t * uy - p.y, d = dx * dx + dy * dy;
        if (d < best) best = d;
    }
    return sqrtf(best);
}
static double hausdorff(const point *a, int n, const point *b, int m) {
    float far = 0;
    for (int i = 0; i < n; i++) {
        float near = 1e30f;
        for (int j = 0; j < m; j++) {
            float dx = a[i].x - b[j].x, dy = a[i].y - b[j].y, d = dx * dx + dy * dy;
            near = d < near ? d : near;
        }
        far = near > far ? near : far;
    }
    return sqrt(far);
}
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 700, m = 30000, count = 0;
    point *poly = malloc(n * sizeof *poly), *pts = malloc(m * sizeof *pts);
    float *dist = malloc(m * sizeof *dist);
    for (int i = 0; i < n; i++) {
        float r = 1 + 0.3f * sinf(9 * 6.2831853f * i / n), t = 6.2831853f * i / n;
        poly[i] = (point){r * cosf(t), r * sinf(t)};
    }
    unsigned s = 5;
    for (int i = 0; i < m; i++) {
        s = s * 1664525 + 1013904223; pts[i].x = (s >> 8) / 5592405.0f - 1.5f;
        s = s * 1664525 + 1013904223; pts[i].y = (s >> 8) / 5592405.0f - 1.5f;
    }
    for (int i = 0; i < m; i++) count += inside(poly, n, pts[i]);
    for (int i = 0; i < m; i++) dist[i] = outline(poly, n, pts[i]);
    double sum = 0;
    for (int i = 0; i < m; i++) sum += dist[i];
    printf("%d %.9g %.9g\n", count, sum, hausdorff(pts, m, poly, n) + hausdorff(poly, n, pts, m));
    return 0;
}
