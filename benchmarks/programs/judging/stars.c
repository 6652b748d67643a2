/* a cluster of stars: structure of arrays in single precision, leapfrog */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct { int n; float *x, *y, *z, *vx, *vy, *vz, *m; } stars;
static void kick(stars *s, float dt, float eps2)
{
    for (int i = 0; i < s->n; i++) {
        float ax = 0, ay = 0, az = 0;
        for (int j = 0; j < s->n; j++) {
            if (i == j) continue;
            float dx = s->x[j] - s->x[i], dy = s->y[j] - s->y[i], dz = s->z[j] - s->z[i];
            float r2 = dx * dx + dy * dy + dz * dz + eps2, inv = 1.0f / sqrtf(r2), f = s->m[j] * inv * inv * inv;
            ax += f * dx; ay += f * dy; az += f * dz;
        }
        s->vx[i] += dt * ax; s->vy[i] += dt * ay; s->vz[i] += dt * az;
    }
}
static void drift(stars *s, float dt)
{
    for (int i = 0; i < s->n; i++) { s->x[i] += dt * s->vx[i]; s->y[i] += dt * s->vy[i]; s->z[i] += dt * s->vz[i]; }
}
int main(int argc, char **argv)
{
    stars s;
    s.n = argc > 1 ? atoi(argv[1]) : 1500;
    float **all[] = {&s.x, &s.y, &s.z, &s.vx, &s.vy, &s.vz, &s.m};
    for (int k = 0; k < 7; k++) {
        *all[k] = malloc(4 * s.n);
        for (int i = 0; i < s.n; i++) (*all[k])[i] = k == 6 ? 1.0f / s.n : sinf(i * (k + 1) * 1.37f) * (k < 3 ? 1 : 0.1f);
    }
    for (int t = 0; t < 10; t++) { kick(&s, 0.01f, 1e-4f); drift(&s, 0.01f); }
    double e = 0;
    for (int i = 0; i < s.n; i++) e += s.x[i] * s.x[i] + s.y[i] * (i % 3) + s.z[i];
    printf("%.9g\n", e);
}
