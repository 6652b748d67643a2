/* reaction and diffusion on a torus, run-time size, remainders */
#include <stdio.h>
#include <stdlib.h>
static void step(int n, const float *u, const float *v, float *un, float *vn, float f, float k)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float a = u[i * n + j], b = v[i * n + j];
            float la = u[((i + 1) % n) * n + j] + u[((i - 1 + n) % n) * n + j] + u[i * n + (j + 1) % n] + u[i * n + (j - 1 + n) % n] - 4 * a;
            float lb = v[((i + 1) % n) * n + j] + v[((i - 1 + n) % n) * n + j] + v[i * n + (j + 1) % n] + v[i * n + (j - 1 + n) % n] - 4 * b;
            un[i * n + j] = a + 0.2f * la - a * b * b + f * (1 - a);
            vn[i * n + j] = b + 0.1f * lb + a * b * b - (f + k) * b;
        }
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 400, steps = argc > 2 ? atoi(argv[2]) : 100;
    float *u = malloc(4 * n * n), *v = malloc(4 * n * n), *un = malloc(4 * n * n), *vn = malloc(4 * n * n);
    for (int i = 0; i < n * n; i++) u[i] = 1, v[i] = (i * 7919 % 1000 < 30) * 0.5f;
    for (int t = 0; t < steps; t++) {
        step(n, u, v, un, vn, 0.04f, 0.06f);
        float *s = u; u = un; un = s;
        s = v; v = vn; vn = s;
    }
    double e = 0;
    for (int i = 0; i < n * n; i++) e += u[i] * (i % 5) + v[i];
    printf("%.9g\n", e);
}
