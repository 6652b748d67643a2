/* response of a network: products of complex matrices, frequency by frequency */
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
static void multiply(int n, const double complex *a, const double complex *b, double complex *c)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double complex s = 0;
            for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 250;
    double complex *a = malloc(sizeof *a * n * n), *b = malloc(sizeof *b * n * n), *c = malloc(sizeof *c * n * n);
    for (int f = 1; f <= 4; f++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                a[i * n + j] = 1.0 / (1 + i + j) + I * f * 0.01 * (i - j);
                b[i * n + j] = (i == j) + 0.5 * I / (1 + abs(i - j));
            }
        multiply(n, a, b, c);
        double complex t = 0;
        for (int i = 0; i < n; i++) t += c[i * n + (i * 7) % n];
        printf("%.17g %.17g\n", creal(t), cimag(t));
    }
    free(a), free(b), free(c);
}
