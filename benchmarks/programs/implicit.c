/* implicit diffusion, rows then columns, one workspace for all systems */
#include <stdio.h>
#include <stdlib.h>
static void thomas(int n, double r, double *x, int stride, double *cp)
{
    double b = 1 + 2 * r;
    cp[0] = -r / b;
    x[0] /= b;
    for (int i = 1; i < n; i++) {
        double m = 1.0 / (b + r * cp[i - 1]);
        cp[i] = -r * m;
        x[i * stride] = (x[i * stride] + r * x[(i - 1) * stride]) * m;
    }
    for (int i = n - 2; i >= 0; i--) x[i * stride] -= cp[i] * x[(i + 1) * stride];
}
static void rows(int n, double r, double *u, double *work)
{
    for (int i = 0; i < n; i++) thomas(n, r, u + i * n, 1, work);
}
static void columns(int n, double r, double *u, double *work)
{
    for (int j = 0; j < n; j++) thomas(n, r, u + j, n, work);
}
int main(int argc, char **argv)
{
    int n = 600, steps = argc > 1 ? atoi(argv[1]) : 30;
    double *u = malloc(sizeof *u * n * n), *work = malloc(sizeof *work * n);
    for (int i = 0; i < n * n; i++) u[i] = (i * 7919 % 1000) / 1000.0;
    for (int t = 0; t < steps; t++) {
        rows(n, 0.4, u, work);
        columns(n, 0.4, u, work);
    }
    double s = 0;
    for (int i = 0; i < n * n; i++) s += u[i] * (i % 3);
    printf("%.17g\n", s);
}
