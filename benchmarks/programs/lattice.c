/* phi^4 field on a periodic lattice in three dimensions, neighbours by conditions */
#include <stdio.h>
#include <stdlib.h>
static void force(int n, const double *phi, double *f, double m2, double lambda)
{
    for (int x = 0; x < n; x++) {
        int xp = x == n - 1 ? 0 : x + 1, xm = x == 0 ? n - 1 : x - 1;
        for (int y = 0; y < n; y++) {
            int yp = y == n - 1 ? 0 : y + 1, ym = y == 0 ? n - 1 : y - 1;
            for (int z = 0; z < n; z++) {
                int zp = z == n - 1 ? 0 : z + 1, zm = z == 0 ? n - 1 : z - 1;
                double p = phi[(x * n + y) * n + z];
                double s = phi[(xp * n + y) * n + z] + phi[(xm * n + y) * n + z] + phi[(x * n + yp) * n + z] + phi[(x * n + ym) * n + z] + phi[(x * n + y) * n + zp] + phi[(x * n + y) * n + zm];
                f[(x * n + y) * n + z] = s - 6 * p - m2 * p - lambda * p * p * p;
            }
        }
    }
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 64, steps = argc > 2 ? atoi(argv[2]) : 100, v = n * n * n;
    double *phi = malloc(8 * v), *pi = calloc(v, 8), *f = malloc(8 * v), dt = 0.05;
    for (int i = 0; i < v; i++) phi[i] = (i * 31 % 97) / 97.0 - 0.5;
    for (int t = 0; t < steps; t++) {
        force(n, phi, f, 0.1, 0.5);
        for (int i = 0; i < v; i++) pi[i] += dt * f[i];
        for (int i = 0; i < v; i++) phi[i] += dt * pi[i];
    }
    double e = 0;
    for (int i = 0; i < v; i++) e += pi[i] * pi[i] + phi[i] * (i % 3);
    printf("%.17g\n", e);
}
