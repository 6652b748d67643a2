/* QR by Householder reflections, columns of zeros skipped */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static void qr(int m, int n, double *a, double *tau)
{
    for (int k = 0; k < n; k++) {
        double norm = 0;
        for (int i = k; i < m; i++) norm += a[i * n + k] * a[i * n + k];
        norm = sqrt(norm);
        if (norm == 0) { tau[k] = 0; continue; }
        double alpha = a[k * n + k] > 0 ? -norm : norm, v0 = a[k * n + k] - alpha;
        tau[k] = -v0 / alpha;
        for (int i = k + 1; i < m; i++) a[i * n + k] /= v0;
        a[k * n + k] = alpha;
        for (int j = k + 1; j < n; j++) {
            double s = a[k * n + j];
            for (int i = k + 1; i < m; i++) s += a[i * n + k] * a[i * n + j];
            s *= tau[k];
            a[k * n + j] -= s;
            for (int i = k + 1; i < m; i++) a[i * n + j] -= s * a[i * n + k];
        }
    }
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 300, m = n + 100;
    double *a = malloc(8 * m * n), *tau = malloc(8 * n), s = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) a[i * n + j] = j == 5 ? 0 : 1.0 / (1 + (i * 13 + j * 7) % 29) + (i == j);
    qr(m, n, a, tau);
    for (int i = 0; i < n; i++) s += fabs(a[i * n + i]) + tau[i];
    printf("%.17g\n", s);
}
